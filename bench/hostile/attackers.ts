import { once } from 'node:events'
import type { RunningShop } from '../../e2e/shop.ts'
import { ATTACKS } from './attacks.ts'

// A process that attacks the shop in all ways at once, from the message 'begin' until 'end'. It then answers `Counts`.

export type Target = Pick<RunningShop, 'url' | 'admin' | 'customer'>
/** How many requests of each attack were answered. */
export type Counts = [name: string, count: number][]

const over = new AbortController()
const counts = new Map<string, number>()
await once(process, 'message')
const ended = once(process, 'message')
const shop = JSON.parse(process.argv[2] ?? '') as Target
const begun = await Promise.all(ATTACKS.map(async ({ name, begin }) => ({ name, run: await begin(shop) })))
const attacks = begun.map(({ name, run }) => run(over.signal, () => counts.set(name, (counts.get(name) ?? 0) + 1)))
await ended
over.abort()
await Promise.all(attacks)
process.send?.([...counts])
process.disconnect()
