import { expect, test } from 'vitest'
import { soak } from '../soak/soak.ts'
import { tempFolder } from './test-agent.ts'

/** What the runtime's own figures vary by in so short a time. */
const VARIES = 2_500_000

test.runIf(process.platform === 'linux')(
  'after honest and hostile clients, kills, takeovers, puts and deletions nothing is left behind, over both kinds of sockets',
  async () => {
    const kinds = ['handles', 'streams'] as const
    const reports = await Promise.all(
      kinds.map(async (sockets, seed) => soak({ folder: await tempFolder(), seconds: 5, sockets, parts: 3, seed }))
    )
    for (const {
      problems,
      begin,
      end,
      done,
      kills,
      takeovers,
      bytesPerConnection,
      connectionsOfSecondHalf
    } of reports) {
      expect(problems).toEqual([])
      expect(end).toMatchObject({ handles: begin.handles, sockets: begin.sockets, ports: 0 })
      expect([done > 20, kills, takeovers]).toEqual([true, 1, 2])
      // A leak of a kilobyte a connection would be above it.
      expect(bytesPerConnection * connectionsOfSecondHalf).toBeLessThan(VARIES)
    }
  },
  180_000
)
