/** Admits one caller at a time, in order of arrival. */
export class OneAtATime<T extends object> {
  #waiting: Array<{ who: T; go: () => void }> = []
  #inside: T | null = null

  /** Resolves when it is the turn of `who`. It never resolves if `who` leaves first. */
  enter(who: T): Promise<void> {
    if (this.#inside === null) {
      this.#inside = who
      return Promise.resolve()
    }
    return new Promise(go => this.#waiting.push({ who, go }))
  }

  /** Ends the turn or the wait of `who`. Harmless if `who` never entered. */
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
