// A failed takeover leaves the agent as it was. If one side dies, the other goes on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { freePorts } from '../../server/src/testing/free-ports.ts'
import { isLinux, kill, managersOf, processesOf, testProgram } from './process.ts'
import { parseSettings } from '../src/takeover/settings-files.ts'
import { echoTarget, lease, tempFolder, tunnel, until } from './test-agent.ts'
import { servingAgent } from './takeovers.ts'
import { signalIfThere } from '../src/takeover/start-program.ts'

const ready = `process.send({ type: 'ready', format: 2 })`
const begun = (then: string): string => `process.on('message', m => { if (m.type === 'begin') { ${then} } })`
/** Broken programs, and what the agent says about each. */
const programs: Array<[string, string, RegExp]> = [
  ['ends at once', 'process.exit(3)', /ended before it served/],
  ['says why not', `process.send({ type: 'failed', reason: 'No room.' }); setInterval(() => {}, 1e3)`, /No room\./],
  ['takes over in another way', begun(`process.send({ type: 'ready', format: 99 })`), /another takeover method/],
  [
    'ends in the hand-over',
    begun(`${ready}; process.on('message', m => m.type === 'yours' && process.exit())`),
    /ended/
  ],
  [
    'ends with the lock',
    `process.on('message', (m, handle) => {
      if (m.type === 'begin') ${ready}
      if (m.type === 'lock') globalThis.lock = handle
      if (m.type === 'yours' && globalThis.lock) process.kill(process.pid, 'SIGKILL')
    })`,
    /ended/
  ]
]

describe.runIf(isLinux)('where the new program is no good', () => {
  test('the old process goes on as if nothing had happened, and says why', async () => {
    const folder = await tempFolder()
    const link = join(folder, 'current.mjs')
    await symlink(testProgram, link)
    const { agent, call, ip, net, info, takeOver } = await servingAgent({ DATA_DIR: folder }, link)
    const echo = await echoTarget()
    const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
    await rawClient.take(/\n/)
    const fine = async (n: number): Promise<void> => {
      rawClient.send(`still ${n}`)
      await rawClient.take(new RegExp(`still ${n}`))
      await lease(call, `u${n}`, [`${net}.3.${n}/32`])
      expect((await tunnel(`${net}.3.${n}`, agent.proxyPort, `u${n}`, echo.host)).status).toBe(200)
      expect(await managersOf(folder)).toEqual([agent.child.pid])
    }
    const handles = async (): Promise<number> => (await readdir(`/proc/${agent.child.pid}/fd`)).length
    const before = await handles()
    const { program_started_at: since, program_path } = await info()
    expect(program_path).toBe(link)
    for (const [n, [, source, reason]] of programs.entries()) {
      await rm(link)
      await writeFile(join(folder, `${n}.mjs`), source)
      await symlink(join(folder, `${n}.mjs`), link)
      const after = await takeOver()
      expect(after).toMatchObject({ program_started_at: since, takeover: { state: 'failed' } })
      expect(after['takeover']?.['reason']).toMatch(reason)
      await fine(n)
    }
    await rm(link)
    await symlink(testProgram, link)
    // The new program cannot read a state whose first line names another format.
    const journal = join(folder, 'agent', 'state.journal')
    const [first = ''] = (await readFile(journal, 'utf8')).split('\n', 1)
    const json = first.slice(9).replace('"format":1', '"format":2')
    const put = async (line: string): Promise<void> => {
      const file = await open(journal, 'r+')
      await file.write(line, 0)
      await file.close()
    }
    await put(`${crc32(json).toString(16).padStart(8, '0')} ${json}`)
    expect((await takeOver())['takeover']?.['reason']).toMatch(/written by another version of the agent/)
    await put(first)
    await fine(90)
    await until('no handle to be left', async () => (await handles()) <= before)
    // The failures left nothing behind: a good program takes over with every change.
    const after = await takeOver()
    expect(after['program_started_at']).not.toBe(since)
    rawClient.send('to the end')
    await rawClient.take(/to the end/)
    expect((await call('GET', '/api/state')).json['users']).toHaveLength(programs.length + 2)
    rawClient.socket.destroy()
  }, 90_000)

  test('one that hangs is ended when its time is over, and a signal before that does nothing', async () => {
    const folder = await tempFolder()
    const link = join(folder, 'current.mjs')
    await symlink(testProgram, link)
    const serving = await servingAgent({ DATA_DIR: folder, AGENT_TAKEOVER_SECONDS: '2', AGENT_WORKERS: '0' }, link)
    const hangs = join(folder, 'hangs.mjs')
    await writeFile(
      hangs,
      `import { appendFileSync } from 'node:fs'; appendFileSync('${folder}/began', 'x')
      process.on('SIGTERM', () => {}); process.on('message', () => {}); setInterval(() => {}, 1e3)`
    )
    await rm(link)
    await symlink(hangs, link)
    const over = serving.takeOver()
    const isRunning = async () => (await serving.info())['takeover']?.['state'] === 'running'
    await until('the takeover', isRunning)
    kill(serving.agent.child.pid ?? 0, 'SIGHUP')
    expect((await over)['takeover']).toMatchObject({
      state: 'failed',
      reason: 'The new process was not ready within 2 seconds.'
    })
    // On a busy machine it may be ended before it writes.
    expect((await readFile(join(folder, 'began'), 'utf8').catch(() => '')).length).toBeLessThanOrEqual(1)
    expect(await managersOf(folder)).toEqual([serving.agent.child.pid])
    // A stop during a takeover ends both processes.
    kill(serving.agent.child.pid ?? 0, 'SIGHUP')
    await until('the next takeover', isRunning)
    kill(serving.agent.child.pid ?? 0, 'SIGTERM')
    expect(await serving.agent.exited).toBe(0)
    expect(await processesOf(folder)).toEqual([])
  }, 60_000)
})

test.runIf(isLinux)(
  'stopped in the first moment of a takeover, or asked for one when it is stopped, nothing of the agent is left',
  async () => {
    const signals: NodeJS.Signals[][] = [
      ['SIGTERM', 'SIGHUP'],
      ['SIGHUP', 'SIGHUP', 'SIGTERM', 'SIGHUP']
    ]
    const lanes = signals.map(async order => {
      const { agent, folder } = await servingAgent({ AGENT_WORKERS: '0' })
      for (const signal of order) kill(agent.child.pid ?? 0, signal)
      expect(await agent.exited).toBe(0)
      expect(await processesOf(folder)).toEqual([])
    })
    await Promise.all(lanes)
  },
  60_000
)

/** Holds back one message of the hand-over until the file `held` is deleted. */
const holding = (folder: string): string => `
const fs = require('node:fs')
const { emit, env, argv } = process
if (argv[2] === 'takeover') process.emit = function (name, message, ...more) {
  const pass = () => emit.call(process, name, message, ...more)
  if (name !== 'message' || message?.type !== env.HOLD) return pass()
  fs.writeFileSync('${folder}/held', env.HOLD)
  const look = setInterval(() => {
    if (fs.existsSync('${folder}/held')) return
    clearInterval(look)
    pass()
  }, 10)
  return true
}`

test.runIf(isLinux)(
  'the old process killed in the hand-over: the new one serves, with every change',
  async () => {
    const folder = await tempFolder()
    const settings = join(folder, 'agent.env')
    await writeFile(join(folder, 'hold.cjs'), holding(folder))
    const say = (hold: string) => writeFile(settings, `NODE_OPTIONS="--require ${folder}/hold.cjs"\nHOLD=${hold}\n`)
    const [proxy, port] = await freePorts(2)
    const { agent, call, ip, net, info, pid } = await servingAgent({
      DATA_DIR: folder,
      AGENT_SETTINGS_FILES: settings,
      AGENT_WORKERS: '0',
      PROXY_PORT: String(proxy),
      AGENT_PORT: String(port)
    })
    const echo = await echoTarget()
    for (const [n, hold] of ['begin', 'yours', 'draining'].entries()) {
      await say(hold)
      await lease(call, `u${n}`, [`${net}.3.${n}/32`])
      const old = await pid()
      kill(old, 'SIGHUP')
      await until('the message to be held back', () => existsSync(join(folder, 'held')))
      kill(old)
      await until('its end', async () => !(await managersOf(folder)).includes(old))
      await rm(join(folder, 'held'))
      await until('the new one', async () => (await call('GET', '/healthz').catch(() => null))?.status === 200)
      expect((await call('GET', '/api/state')).json['users']).toHaveLength(n + 2)
      expect((await tunnel(ip, agent.proxyPort, 'u', echo.host)).status).toBe(200)
      await until('no process to be draining', async () => String((await info())['draining']) === '')
      expect(await managersOf(folder)).toHaveLength(1)
    }
  },
  60_000
)

test('a new program that is gone and reaped already is no fault of the one that serves', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  expect(() => signalIfThere(child.pid ?? 0, 'SIGKILL')).not.toThrow()
})

test('settings are read as systemd reads them', () => {
  const text = [
    '# a comment',
    '; another',
    'PLAIN=a#b c   ',
    `  SINGLE = 'a "b" \\c' `,
    'DOUBLE="a \\"b\\" \\$c \\d"',
    'MIXED=a\\ b"c d"\'e\'',
    'LONG=one\\',
    'two',
    'EMPTY=',
    'no setting',
    '9BAD=x',
    'LAST="x  "'
  ]
  expect(parseSettings(text.join('\n'))).toEqual({
    PLAIN: 'a#b c',
    SINGLE: 'a "b" \\c',
    DOUBLE: 'a "b" $c \\d',
    MIXED: 'a bc de',
    LONG: 'onetwo',
    EMPTY: '',
    LAST: 'x  '
  })
})
