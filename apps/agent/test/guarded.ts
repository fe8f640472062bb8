import type { Resolve } from '../src/net/resolver.ts'
import { httpTarget, lease, type TestAgent, testAgent } from './test-agent.ts'

/** Names that the tests' name server knows. It changes the address of `moving.test`, as in DNS rebinding. */
const names: Record<string, string[]> = {
  'public.test': ['127.0.0.1'],
  'inside.test': ['10.1.2.3'],
  'mixed.test': ['127.0.0.1', '169.254.169.254'],
  'mapped.test': ['::ffff:10.0.0.1'],
  'listed.test': ['127.77.0.9'],
  'www.denied.test': ['127.0.0.1']
}
export type Guarded = {
  agent: TestAgent
  /** An address that user `u` leases. */
  ip: string
  target: Awaited<ReturnType<typeof httpTarget>>
  /** Names that the agent looked up, in order. */
  asked: string[]
}

/** An agent with its own name server, and a user with some denied domains. */
export async function guardedAgent(): Promise<Guarded> {
  const asked: string[] = []
  const resolve: Resolve = (name, _family, answer) => {
    asked.push(name)
    if (name === 'slow.test') answer({ ok: false, reason: 'timeout' })
    else if (name === 'moving.test') {
      const first = asked.filter(each => each === name).length === 1
      answer({ ok: true, addresses: [first ? '127.0.0.1' : '10.0.0.1'] })
    } else {
      const addresses = names[name]
      answer(addresses === undefined ? { ok: false, reason: 'not-found' } : { ok: true, addresses })
    }
  }
  const agent = await testAgent({
    world: { resolve },
    limits: {
      // One connection sends thousands of requests in these tests.
      newPerUser: 0,
      newPerAddress: 0,
      newPerClient: 0,
      sweepMs: 20,
      headBytes: 4096
    }
  })
  const target = await httpTarget()
  await lease(agent.call, 'u', [`${agent.net}.1.0/30`], {
    denied_domains: ['denied.test', 'example.com', '127.77.0.0/16', '127.78.0.1']
  })
  return { agent, ip: `${agent.net}.1.1`, target, asked }
}
