// Strong words in a sentence. The marks are characters that nobody can type into a name.
const [BEGIN, END] = ['\u{E000}', '\u{E001}']

export const strong = (text: string): string => `${BEGIN}${text}${END}`

export const strongParts = (sentence: string): { text: string; isStrong: boolean }[] =>
  sentence
    .split(BEGIN)
    .flatMap((part, place) => {
      if (place === 0) return [{ text: part, isStrong: false }]
      const [text = '', rest = ''] = part.split(END)
      return [
        { text, isStrong: true },
        { text: rest, isStrong: false },
      ]
    })
    .filter(({ text }) => text !== '')
