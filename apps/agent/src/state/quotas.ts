/** What a user may still use: `bytes` from when the agent first saw the `id`. */
export type Quota = { id: string; bytes: number }

export type SavedQuota = { user: string; id: string; used: number }

/** Counts what users with a quota have used of it, over restarts. */
export class Quotas {
  readonly #used = new Map<string, { id: string; used: number }>()
  readonly #quotaOf: (user: string) => Quota | undefined
  readonly #spent = new Map<string, string>()
  #changed = false

  /** @param quotaOf the present quota of a user */
  constructor(quotaOf: (user: string) => Quota | undefined) {
    this.#quotaOf = quotaOf
  }

  load(saved: readonly SavedQuota[]): void {
    for (const { user, id, used } of saved) {
      this.#used.set(user, { id, used })
      // Whether it was all is known once the users are.
      this.#spent.set(user, id)
    }
    this.#changed = saved.length > 0
  }

  add(user: string, bytes: number): void {
    const quota = this.#quotaOf(user)
    if (quota === undefined) return
    let counted = this.#used.get(user)
    // Another quota begins at nothing.
    if (counted?.id !== quota.id) this.#used.set(user, (counted = { id: quota.id, used: 0 }))
    counted.used += bytes
    if (counted.used < quota.bytes || this.#spent.get(user) === quota.id) return
    this.#spent.set(user, quota.id)
    this.#changed = true
  }

  /** Whose quota is used up, as `user id`; null where that did not change since the last time. */
  takeSpent(): string[] | null {
    for (const [user, id] of this.#spent) {
      const quota = this.#quotaOf(user)
      const counted = this.#used.get(user)
      const isSpent = quota?.id === id && counted?.id === id && counted.used >= quota.bytes
      if (!isSpent) this.#changed = this.#spent.delete(user)
    }
    if (!this.#changed) return null
    this.#changed = false
    return Array.from(this.#spent, ([user, id]) => `${user} ${id}`)
  }

  /** Those that count still. */
  saved(): SavedQuota[] {
    for (const [user, { id }] of this.#used) if (this.#quotaOf(user)?.id !== id) this.#used.delete(user)
    return Array.from(this.#used, ([user, { id, used }]) => ({ user, id, used }))
  }
}
