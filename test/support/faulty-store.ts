// A store for tests in which the database goes away, or commits without answering.
import { StoreUnavailable } from '../../src/store/failure.ts'
import type { Store } from '../../src/store/store.ts'

/** Passes all calls to another store, unless the test sets a fault. */
export class FaultyStore implements Store {
  readonly dialect
  readonly inner: Store
  isAway = false
  /** Called with the result of each write; may throw to hide the result from the caller. */
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
  ordered: Store['ordered'] = () => this.inner.ordered()
  onNews: Store['onNews'] = listener => this.inner.onNews(listener)
  onCommit: Store['onCommit'] = absorb => this.inner.onCommit(absorb)
  ping = () => this.inner.ping()
  close = () => this.inner.close()
}
