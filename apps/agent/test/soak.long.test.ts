import { expect, test } from 'vitest'
import { soak } from '../soak/soak.ts'
import { isLinux } from './process.ts'
import { tempFolder } from './test-agent.ts'

/** How much the runtime's own memory varies within seconds. */
const MEMORY_NOISE = 2_500_000
const KINDS = ['handles', 'streams'] as const

test.runIf(isLinux)(
  'after honest and hostile clients, kills, takeovers, puts and deletions nothing is left behind',
  async () => {
    const reports = await Promise.all(
      KINDS.map(async (sockets, seed) =>
        soak({ folder: await tempFolder(), seconds: 5, sockets, parts: 3, seed, idleSeconds: 6 })
      )
    )
    for (const { problems, begin, end, kills, takeovers, bytesPerConnection, connectionsOfSecondHalf } of reports) {
      expect(problems).toEqual([])
      expect(end).toMatchObject({ handles: begin.handles, sockets: begin.sockets, ports: 0 })
      expect([kills, takeovers]).toEqual([1, 2])
      // A leak of one kilobyte per connection exceeds this.
      expect(bytesPerConnection * connectionsOfSecondHalf).toBeLessThan(MEMORY_NOISE)
    }
  },
  180_000
)
