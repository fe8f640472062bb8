import { expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { soak } from '../soak/soak.ts'
import { isLinux } from './process.ts'
import { tempFolder } from './test-agent.ts'

/** How much the runtime's own memory varies within seconds. */
const MEMORY_NOISE = 2_500_000
const [kinds, seconds, parts] = isLong ? ([['handles', 'streams'], 5, 3] as const) : ([['handles'], 0.5, 1] as const)
/** With one part there is no half before the last: no worker is killed, and the first process alone is replaced. */
const deeds = isLong ? [1, 2] : [0, 1]

test.runIf(isLinux)(
  'after honest and hostile clients, kills, takeovers, puts and deletions nothing is left behind',
  async () => {
    const reports = await Promise.all(
      kinds.map(async (sockets, seed) =>
        soak({ folder: await tempFolder(), seconds, sockets, parts, seed, idleSeconds: 6 })
      )
    )
    for (const { problems, begin, end, kills, takeovers, bytesPerConnection, connectionsOfSecondHalf } of reports) {
      expect(problems).toEqual([])
      expect(end).toMatchObject({ handles: begin.handles, sockets: begin.sockets, ports: 0 })
      expect([kills, takeovers]).toEqual(deeds)
      // A leak of one kilobyte per connection exceeds this.
      expect(bytesPerConnection * connectionsOfSecondHalf).toBeLessThan(MEMORY_NOISE)
    }
  },
  180_000
)
