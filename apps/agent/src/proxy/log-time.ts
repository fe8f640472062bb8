/** Formats the time for the access log like `toISOString`, but formats each second only once. */
export class LogTime {
  #second = -1
  /** Up to the point after the seconds. */
  #text = ''

  /** @param now Unix time in milliseconds */
  at(now: number): string {
    const ms = now % 1000
    if (now - ms !== this.#second) {
      this.#second = now - ms
      this.#text = new Date(now).toISOString().slice(0, 20)
    }
    return `${this.#text}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
  }
}
