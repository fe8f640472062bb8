/** The system hands over 32 datagrams of each in a turn of the loop, and to drop one takes time too. */
const MOST_OF_A_USER = 512

/** The open associations of each user in this process. */
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
