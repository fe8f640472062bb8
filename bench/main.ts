/** `npm run bench [-- name …]`: measures the figures of docs/BENCHMARKS.md, each with its goal. */
import { cpus, totalmem } from 'node:os'
import { catalogBench } from './catalog/index.ts'
import { consoleBench } from './console/index.ts'
import { type Bench, table } from './figures.ts'
import { hostileBench } from './hostile/index.ts'
import { inventoryBench } from './inventory/index.ts'
import { listsBench } from './lists/index.ts'
import { ordersBench } from './orders/index.ts'
import { webBench } from './web/index.ts'

const benches: Record<string, Bench> = {
  catalog: catalogBench,
  console: consoleBench,
  hostile: hostileBench,
  inventory: inventoryBench,
  lists: listsBench,
  orders: ordersBench,
  web: webBench
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter(name => !(name in benches))
if (unknown.length > 0) {
  console.error(`No benchmark '${unknown.join(', ')}'. There are: ${Object.keys(benches).join(', ')}`)
  process.exit(1)
}
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`
console.log(machine)
for (const [name, bench] of Object.entries(benches)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  console.log(`\n${name}`)
  console.log(table(await bench(line => console.log(`  ${line}`))))
}
