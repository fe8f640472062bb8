/** The system delivers 32 datagrams of each in one turn of the loop, and even dropping them takes time. */
const MOST_OF_A_USER = 512

/** Counts each user's open associations in this process. */
export class Associations {
  readonly #open = new Map<string, number>()

  hasRoom(user: string): boolean {
    return (this.#open.get(user) ?? 0) < MOST_OF_A_USER
  }

  opened(user: string): void {
    this.#open.set(user, (this.#open.get(user) ?? 0) + 1)
  }

  closed(user: string): void {
    const left = (this.#open.get(user) ?? 0) - 1
    if (left > 0) this.#open.set(user, left)
    else this.#open.delete(user)
  }
}
