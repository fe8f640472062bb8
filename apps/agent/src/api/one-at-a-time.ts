/** Lets one in at a time, in the order in which they ask. */
export class OneAtATime<T extends object> {
  #waiting: Array<{ who: T; go: () => void }> = []
  #inside: T | null = null

  /** Resolves when it is the turn of `who`; never where it leaves before. */
  enter(who: T): Promise<void> {
    if (this.#inside === null) {
      this.#inside = who
      return Promise.resolve()
    }
    return new Promise(go => this.#waiting.push({ who, go }))
  }

  /** Ends the turn of `who`, or its waiting; for one that never entered nothing happens. */
  leave(who: T): void {
    if (this.#inside !== who) {
      this.#waiting = this.#waiting.filter(each => each.who !== who)
      return
    }
    const next = this.#waiting.shift()
    this.#inside = next?.who ?? null
    next?.go()
  }
}
