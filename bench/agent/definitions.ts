// Memory of deny lists in the managing process: 1,000 combinations of 50 rules with 1,000 domains each. Run with
// --expose-gc.
import { Definitions } from '../../apps/agent/src/state/definitions.ts'

const gc = (globalThis as { gc?: () => void }).gc ?? ((): void => {})
const mb = (): number => {
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}
const rules = Array.from({ length: 50 }, (_, rule) =>
  Array.from({ length: 1000 }, (__, n) => `site-${n}.rule-${rule}.example.com`)
)
const definitions = new Definitions()
const combine = (n: number): void => {
  // Leaves out about half of the rules, different ones each time.
  const domains = rules.filter((_, rule) => ((n * 2_654_435_761) >>> (rule % 31)) % 2 === rule % 2).flat()
  definitions.apply([{ op: 'deny-set', hash: `combination-${n}`, domains }], n)
}
combine(0)
const before = mb()
let [domains, startedAt] = [0, performance.now()]
for (let n = 1; n <= 1000; n++) combine(n)
const ms = (performance.now() - startedAt) / 1000
for (const list of definitions.denySets.values()) domains += list.length
process.send?.({ weight: mb() - before, ms, domains: domains / definitions.denySets.size })
