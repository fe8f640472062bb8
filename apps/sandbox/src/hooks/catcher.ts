import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { openStore } from '../kit/store.ts'

export type Caught = {
  /** The last part of the address that received it. */
  at: string
  caught_at: string
  /** The header `webhook-id`; a known one is a redelivery. */
  id: string
  type: string
  /** Why the signature is wrong; null if it is right. */
  wrong: string | null
  seen_before: boolean
  body: string
}

const MAX_KEPT = 200

/** The last 200 posts to the catcher, newest first, kept across restarts. Each is verified with the current secret. */
export async function openCatcher(dir: string, { now, secret }: { now: () => number; secret: string }) {
  const store = await openStore<{ version: 1; secret: string; caught: Caught[] }>(join(dir, 'hooks.json'), () => ({
    version: 1,
    secret: '',
    caught: []
  }))

  // A secret from the page takes precedence until it is emptied.
  const current = () => store.data.secret || secret

  function wrongOf(body: string, headers: Record<string, string>): string | null {
    if (current() === '') return 'no secret was entered here'
    try {
      new Webhook(current()).verify(body, headers)
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  return {
    list: () => store.data.caught,
    secret: current,
    async add(at: string, body: string, headers: Record<string, string>): Promise<void> {
      const id = headers['webhook-id'] ?? ''
      const caught = {
        at,
        caught_at: new Date(now()).toISOString(),
        id,
        type: typeOf(body),
        wrong: wrongOf(body, headers),
        seen_before: store.data.caught.some(one => one.id === id && one.at === at),
        body
      }
      store.data.caught = [caught, ...store.data.caught].slice(0, MAX_KEPT)
      await store.save()
    },
    async setSecret(given: string): Promise<void> {
      store.data.secret = given
      await store.save()
    },
    async clear(): Promise<void> {
      store.data.caught = []
      await store.save()
    }
  }
}

export type Catcher = Awaited<ReturnType<typeof openCatcher>>

function typeOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body)
    const type: unknown = typeof parsed === 'object' && parsed !== null && 'type' in parsed ? parsed.type : undefined
    return typeof type === 'string' ? type : 'unknown'
  } catch {
    return 'no JSON'
  }
}
