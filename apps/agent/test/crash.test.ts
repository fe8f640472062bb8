import { denySetHash, userHash } from '@netlet/contract/agent-hashes'
import { expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { numbers } from '../soak/wire.ts'
import { caller, echoTarget, type Json, randomNet, tempFolder, tunnel, until } from './test-agent.ts'
import { type AgentProcess, agentProcess } from './process.ts'

type Wanted = { password: string; prefixes: string[]; denied_domains: string[]; allowed_domains: string[] }
const names = Array.from({ length: 8 }, (_, n) => `user${n}`)

const hashOf = (wanted: Wanted): string =>
  userHash({
    password: wanted.password,
    prefixes: wanted.prefixes,
    denySet: denySetHash(wanted.denied_domains.toSorted(), wanted.allowed_domains.toSorted()),
    allowedClientIps: []
  })

/**
 * Kills an agent repeatedly while users are put and deleted. After each restart every user must match its last
 * acknowledged change. A user whose call was cut off may match the old or the new state.
 */
async function killAgain(rounds: number, seed: number): Promise<void> {
  const any = numbers(seed)
  const someOf = (make: () => string): string[] => [...new Set(Array.from({ length: any(4) }, make))]
  const folder = await tempFolder()
  const net = randomNet()
  const echo = await echoTarget()
  /** Acknowledged changes: the user's hash, or null if there is no such user. */
  const acknowledged = new Map<string, string | null>(names.map(name => [name, null]))
  /** Changes that were sent and not answered yet. */
  const asked = new Map<string, string | null>()
  let answers = 0

  const change = async (agent: AgentProcess, name: string): Promise<void> => {
    const call = caller(agent.port)
    const wanted: Wanted | null =
      any(3) === 0
        ? null
        : {
            password: `p${any(1e9)}`,
            prefixes: [`${net}.${1 + any(199)}.${any(32) * 8}/29`],
            denied_domains: someOf(() => `d${any(50)}.test`),
            allowed_domains: someOf(() => `open.d${any(50)}.test`)
          }
    const hash = wanted && hashOf(wanted)
    asked.set(name, hash)
    const path = `/api/users/${name}`
    const reply = await (wanted === null ? call('DELETE', path) : call('PUT', path, wanted))
    if (reply.status !== 200) throw new Error(reply.text)
    if (hash !== null) expect(reply.json['hash']).toBe(hash)
    acknowledged.set(name, hash)
    asked.delete(name)
    answers++
  }

  for (let round = 0; round <= rounds; round++) {
    const agent = await agentProcess(folder, { AGENT_WORKERS: '0' })
    if (agent.port === 0) throw new Error(`round ${round}: ${agent.output()}`)
    const call = caller(agent.port)
    if (round === 0) {
      await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
      const steady = { password: 'secret', prefixes: [`${net}.250.0/24`], denied_domains: [] }
      expect((await call('PUT', '/api/users/steady', steady)).status).toBe(200)
    }
    const state = await call('GET', '/api/state')
    expect(state.json['prefixes']).toEqual([`${net}.0.0/16`])
    const found = new Map<string, string | null>(names.map(name => [name, null]))
    for (const user of state.json['users'] as Json[]) found.set(String(user['user']), String(user['hash']))
    for (const name of names) {
      const allowed = [acknowledged.get(name), ...(asked.has(name) ? [asked.get(name)] : [])]
      expect(allowed, `round ${round}, ${name}`).toContain(found.get(name))
      acknowledged.set(name, found.get(name) ?? null)
    }
    asked.clear()
    // A lease from before the kill works at once, without a console.
    const { status } = await tunnel(`${net}.250.${any(256)}`, agent.proxyPort, 'steady', echo.host)
    expect(status).toBe(200)
    if (round === rounds) return void agent.child.kill('SIGKILL')
    const stop = new AbortController()
    const work = names.map(async name => {
      while (!stop.signal.aborted) await change(agent, name)
    })
    const settled = Promise.allSettled(work)
    const last = answers + any(40)
    await until('the moment of the kill', () => answers >= last)
    agent.child.kill('SIGKILL')
    stop.abort()
    await agent.exited
    for (const result of await settled) {
      // A caller may fail only because its connection broke.
      if (result.status === 'rejected') expect(String(result.reason)).toMatch(/fetch failed|terminated|aborted/)
    }
  }
}

test(
  'killed while in use, an agent has every acknowledged change after each restart',
  async () => {
    await (isLong ? Promise.all([killAgain(20, Date.now()), killAgain(20, 2)]) : killAgain(2, 1))
  },
  isLong ? 300_000 : 60_000
)
