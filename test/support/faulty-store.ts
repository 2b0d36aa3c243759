// A store for tests of what happens when the database goes away, or takes a commit and never answers.
import { StoreUnavailable } from '../../src/store/failure.ts'
import type { Store } from '../../src/store/store.ts'

/** Does what it is told on another store, as long as the test lets it. */
export class FaultyStore implements Store {
  readonly dialect
  readonly inner: Store
  isAway = false
  /** Is told what a write has answered; throws to keep that from whoever wrote. */
  answered: (value: unknown) => void = () => {}

  constructor(inner: Store) {
    this.inner = inner
    this.dialect = inner.dialect
  }

  read: Store['read'] = async work => {
    if (this.isAway) throw new StoreUnavailable('away')
    return this.inner.read(work)
  }
  write: Store['write'] = async work => {
    if (this.isAway) throw new StoreUnavailable('away')
    const value = await this.inner.write(work)
    this.answered(value)
    return value
  }
  script: Store['script'] = work => this.inner.script(work)
  settled = () => this.inner.settled()
  onCommit: Store['onCommit'] = absorb => this.inner.onCommit(absorb)
  ping = () => this.inner.ping()
  close = () => this.inner.close()
}
