/** A user's quota: `bytes` from when the agent first saw the `id`. */
export type Quota = { id: string; bytes: number }

export type SavedQuota = { user: string; id: string; used: number }

/** Counts the use of quotas. Counts survive restarts. */
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
      // A candidate: `takeSpent` decides once the users are known.
      this.#spent.set(user, id)
    }
    this.#changed = saved.length > 0
  }

  add(user: string, bytes: number): void {
    const quota = this.#quotaOf(user)
    if (quota === undefined) return
    let counted = this.#used.get(user)
    if (counted?.id !== quota.id) this.#used.set(user, (counted = { id: quota.id, used: 0 }))
    counted.used += bytes
    if (counted.used < quota.bytes || this.#spent.get(user) === quota.id) return
    this.#spent.set(user, quota.id)
    this.#changed = true
  }

  /** Users whose quota is used up, as `user id`. Null: no change since the last call. */
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

  /** Counts of quotas that users still have. */
  saved(): SavedQuota[] {
    for (const [user, { id }] of this.#used) if (this.#quotaOf(user)?.id !== id) this.#used.delete(user)
    return Array.from(this.#used, ([user, { id, used }]) => ({ user, id, used }))
  }
}
