import { denySetHash, userHash } from '@netlet/contract/agent'
import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { caller, echoTarget, type Json, randomNet, tempFolder, tunnel } from './test-agent.ts'
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

/** Up to three different names. */
const someOf = (make: () => string): string[] => [...new Set(Array.from({ length: randomInt(4) }, make))]

/**
 * Kills an agent again and again while users are put and deleted and proxies are in use. After each restart every user
 * must be as it was last acknowledged; one whose call was cut off may be as before or as asked for.
 */
async function lane(rounds: number): Promise<void> {
  const folder = await tempFolder()
  const net = randomNet()
  const echo = await echoTarget()
  /** What was acknowledged: a hash, or null for no such user. */
  const acknowledged = new Map<string, string | null>(names.map(name => [name, null]))
  /** What was asked for and not yet answered. */
  const asked = new Map<string, string | null>()

  const change = async (agent: AgentProcess, name: string): Promise<void> => {
    const call = caller(agent.port)
    if (randomInt(3) === 0) {
      asked.set(name, null)
      const gone = await call('DELETE', `/api/users/${name}`)
      if (gone.status !== 200) throw new Error(gone.text)
      acknowledged.set(name, null)
    } else {
      const wanted: Wanted = {
        password: `p${randomInt(1e9)}`,
        prefixes: [`${net}.${randomInt(1, 200)}.${randomInt(32) * 8}/29`],
        denied_domains: someOf(() => `d${randomInt(50)}.test`),
        allowed_domains: someOf(() => `open.d${randomInt(50)}.test`)
      }
      asked.set(name, hashOf(wanted))
      const put = await call('PUT', `/api/users/${name}`, wanted)
      if (put.status !== 200) throw new Error(put.text)
      expect(put.json['hash']).toBe(hashOf(wanted))
      acknowledged.set(name, hashOf(wanted))
    }
    asked.delete(name)
  }

  for (let round = 0; round <= rounds; round++) {
    const agent = await agentProcess(folder)
    if (agent.port === 0) throw new Error(`round ${round}: ${agent.output()}`)
    const call = caller(agent.port)
    if (round === 0) {
      await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
      const steady = await call('PUT', '/api/users/steady', {
        password: 'secret',
        prefixes: [`${net}.250.0/24`],
        denied_domains: []
      })
      expect(steady.status).toBe(200)
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
    // A lease from before the kill works at once, with no help from any console.
    const { status, rawClient } = await tunnel(`${net}.250.${randomInt(256)}`, agent.proxyPort, 'steady', echo.host)
    expect(status).toBe(200)
    rawClient.send('in use')
    if (round === rounds) {
      agent.child.kill('SIGTERM')
      expect(await agent.exited).toBe(0)
      return
    }
    const stop = new AbortController()
    const work = names.map(async name => {
      // Each caller goes on until the agent is gone under it.
      while (!stop.signal.aborted) await change(agent, name)
    })
    const settled = Promise.allSettled(work)
    await new Promise(resolve => setTimeout(resolve, randomInt(90)))
    agent.child.kill('SIGKILL')
    stop.abort()
    await agent.exited
    for (const result of await settled) {
      // Only a connection that broke may have stopped a caller.
      if (result.status === 'rejected') expect(String(result.reason)).toMatch(/fetch failed|terminated|aborted/)
    }
  }
}

test('killed forty times at random while in use, it has every acknowledged change after each restart', async () => {
  await Promise.all([lane(20), lane(20)])
}, 300_000)
