import { afterAll, beforeAll, expect, test } from 'vitest'
import { seeded } from '../api/hostile.fixture.ts'
import { act, createBuyer } from './crowd.fixture.ts'
import { faultsOf, runFaults } from './faults.fixture.ts'
import { probe, settle } from './judge.fixture.ts'
import { startWorld, type World } from './world.fixture.ts'

/** `FAULT_ROUNDS=200 FAULT_SEED=1 npm run test:faults`. A round repeats with its own seed and one round. */
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 3)
const SEED = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000)
const STORM_MS = 12_000
const BUYERS = 8

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 180_000)
afterAll(() => world?.close())

test.each(Array.from({ length: ROUNDS }, (_, n) => SEED + n))(
  'after a storm of faults nothing is lost, done twice or left over (seed %i)',
  async seed => {
    const random = seeded(seed)
    const buyers = await Promise.all(Array.from({ length: BUYERS }, (_, n) => createBuyer(world, `buyer${seed}x${n}`)))
    const [faults] = await Promise.all([
      runFaults(faultsOf(world), random, STORM_MS),
      ...buyers.map((buyer, n) => act(world, buyer, seed * 100 + n, STORM_MS))
    ])
    const { took, wrong } = await settle(world)
    for (const buyer of buyers) wrong.push(...buyer.wrong, ...(await probe(world, buyer)))
    const placed = buyers.reduce((sum, buyer) => sum + buyer.placed, 0)
    console.log(`seed ${seed}: ${faults.length} faults, ${placed} orders, settled in ${(took / 1000).toFixed(1)} s`)
    if (wrong.length > 0) console.log(`faults: ${faults.join('; ')}`)
    expect(wrong).toEqual([])
  },
  300_000
)
