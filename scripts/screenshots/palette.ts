// Makes a PNG smaller: 256 colours are enough for a page, and a third of the bytes.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const COLOURS_MAX = 256

interface Image {
  width: number
  height: number
  /** Red, green and blue of each pixel. */
  pixels: Buffer
}

export function toPalette(png: Buffer): Buffer {
  const image = read(png)
  const { palette, places } = reduce(image.pixels)
  return write(image, palette, places)
}

function read(png: Buffer): Image {
  const parts: Buffer[] = []
  let [width, height, channels] = [0, 0, 3]
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    const kind = png.toString('latin1', at + 4, at + 8)
    const data = png.subarray(at + 8, at + 8 + length)
    if (kind === 'IHDR') [width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3]
    if (kind === 'IDAT') parts.push(data)
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(parts))
  const lines = unfilter(raw, { width, height, channels })
  if (channels === 3) return { width, height, pixels: lines }
  const pixels = Buffer.alloc(width * height * 3)
  for (let pixel = 0; pixel < width * height; pixel++) lines.copy(pixels, pixel * 3, pixel * 4, pixel * 4 + 3)
  return { width, height, pixels }
}

/** Each line begins with the way in which it differs from the one above and from its own past. */
function unfilter(
  raw: Buffer,
  { width, height, channels }: { width: number; height: number; channels: number },
): Buffer {
  const length = width * channels
  const out = Buffer.alloc(length * height)
  for (let line = 0; line < height; line++) {
    const filter = raw[line * (length + 1)]!
    for (let at = 0; at < length; at++) {
      const here = line * length + at
      const left = at < channels ? 0 : out[here - channels]!
      const up = line === 0 ? 0 : out[here - length]!
      const corner = at < channels || line === 0 ? 0 : out[here - length - channels]!
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
      out[here] = raw[line * (length + 1) + 1 + at]! + guess
    }
  }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const sum = left + up - corner
  const [a, b, c] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

const colourAt = (pixels: Buffer, pixel: number) => pixels.readUIntBE(pixel * 3, 3)
const partsOf = (colour: number): [number, number, number] => [colour >> 16, (colour >> 8) & 255, colour & 255]

/** The most frequent colours stay as they are, and each of the others becomes the nearest of them. */
function reduce(pixels: Buffer): { palette: number[]; places: Buffer } {
  const counts = new Map<number, number>()
  const length = pixels.length / 3
  for (let pixel = 0; pixel < length; pixel++) {
    const colour = colourAt(pixels, pixel)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = chosen(counts)
  const placeOf = new Map(palette.map((colour, place) => [colour, place]))
  const places = Buffer.alloc(length)
  for (let pixel = 0; pixel < length; pixel++) {
    places[pixel] = placeOf.getOrInsertComputed(colourAt(pixels, pixel), colour => nearest(palette, colour).place)
  }
  return { palette, places }
}

/** Half by frequency; then, one after the other, the colour that is worst served: frequent, and far from all so far. */
function chosen(counts: Map<number, number>): number[] {
  const byCount = [...counts].sort(([, a], [, b]) => b - a).slice(0, 8 * COLOURS_MAX)
  const palette = byCount.slice(0, COLOURS_MAX / 2).map(([colour]) => colour)
  const rest = byCount
    .slice(COLOURS_MAX / 2)
    .map(([colour, count]) => ({ colour, count, far: nearest(palette, colour).far }))
  while (palette.length < COLOURS_MAX && rest.length > 0) {
    const worst = rest.reduce((a, b) => (b.far * Math.sqrt(b.count) > a.far * Math.sqrt(a.count) ? b : a))
    if (worst.far === 0) break
    palette.push(worst.colour)
    for (const one of rest) one.far = Math.min(one.far, distance(one.colour, worst.colour))
  }
  return palette
}

function distance(a: number, b: number): number {
  const [[r, g, b1], [r2, g2, b2]] = [partsOf(a), partsOf(b)]
  return 2 * (r - r2) ** 2 + 4 * (g - g2) ** 2 + 3 * (b1 - b2) ** 2
}

function nearest(palette: readonly number[], colour: number): { place: number; far: number } {
  let found = { place: 0, far: Infinity }
  palette.forEach((one, place) => {
    const far = distance(one, colour)
    if (far < found.far) found = { place, far }
  })
  return found
}

function write({ width, height }: Image, palette: readonly number[], places: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const lines = Buffer.alloc((width + 1) * height)
  for (let line = 0; line < height; line++) places.copy(lines, line * (width + 1) + 1, line * width, (line + 1) * width)
  const chunks: [string, Buffer][] = [
    ['IHDR', header],
    ['PLTE', Buffer.from(palette.flatMap(partsOf))],
    ['IDAT', deflateSync(lines, { level: 9, memLevel: 9 })],
    ['IEND', Buffer.alloc(0)],
  ]
  return Buffer.concat([SIGNATURE, ...chunks.map(([kind, data]) => chunk(kind, data))])
}

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
