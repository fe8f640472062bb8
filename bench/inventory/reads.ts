import type { Client } from 'pg'
import { alternate, type Figure, quantile } from '../figures.ts'
import type { Dataset } from './dataset.ts'

const steps = [1, 8, 16, 32, 64, 128, 256]

/** Quotes compared with a primary-key SELECT on the same connection, all prepared, alternating. */
export async function measureReads(client: Client, data: Dataset, log: (line: string) => void): Promise<Figure[]> {
  const { rows } = await client.query<{ low: number; high: number }>(
    'select min(id) as low, max(id) as high from leases'
  )
  const { low, high } = rows[0] ?? { low: 1, high: 1 }
  const byKey = (round: number) =>
    client.query({
      name: 'by key',
      text: 'select order_id, state from leases where id = $1',
      values: [low + ((Math.abs(round) * 7919) % (high - low))]
    })
  const selection = (group: number) => (round: number) =>
    client.query({
      name: 'selection',
      text: 'select inventory.stock($1, $2, $3) as stock',
      values: [group, steps[Math.abs(round) % steps.length], pick(data.rules, 3, round)]
    })
  const allRules = (group: number) => (round: number) =>
    client.query({
      name: 'all rules',
      text: 'select rule_id, stock from inventory.stock_by_rule($1, $2, $3)',
      values: [group, steps[Math.abs(round) % steps.length], []]
    })

  const figures: Figure[] = []
  for (const { name, group, rounds, goals } of [
    { name: thousands(data.addresses.group), group: data.group, rounds: 3000, goals: [4, 12, 7] as const },
    { name: thousands(data.addresses.everything), group: data.everything, rounds: 400, goals: [20, null, 60] as const }
  ]) {
    log(`quotes on a group of ${name} addresses`)
    const [key = [], one = [], all = []] = await alternate(rounds, [byKey, selection(group), allRules(group)])
    const row = (what: string, samples: number[], share: number, goal: number): Figure => {
      const ratio = quantile(samples, share) / quantile(key, share)
      const measured = `${ms(quantile(samples, share))} against ${ms(quantile(key, share))}`
      return { what: `${what}, group of ${name}`, measured, ratio, goal: `≤ ${goal} ×`, met: ratio <= goal }
    }
    figures.push(row('quote of a selection, median', one, 0.5, goals[0]))
    if (goals[1] !== null) figures.push(row('quote of a selection, p99', one, 0.99, goals[1]))
    figures.push(row('stock of all 50 rules, median', all, 0.5, goals[2]))
  }
  return figures
}

/** `count` distinct rules in ascending order, different each round. */
export function pick(rules: number[], count: number, round: number): number[] {
  const first = Math.abs(round) * 13
  return Array.from({ length: count }, (_, nth) => rules[(first + nth * 17) % rules.length] ?? 0).toSorted(
    (a, b) => a - b
  )
}

export const ms = (value: number) => `${value.toFixed(value < 10 ? 3 : 1)} ms`
export const thousands = (value: number) => value.toLocaleString('en')
