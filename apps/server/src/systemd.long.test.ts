// The units of deploy/systemd under a real systemd: readiness, the watchdog, and the end.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canBootSystemd, startSystemdMachine } from './integrations/ssh/systemd-machine.fixture.ts'
import { createTestDatabase, type TestDatabase } from './testing/database.ts'
import { freePorts } from './testing/free-ports.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe.runIf(canBootSystemd)('under systemd', { timeout: 180_000 }, () => {
  let machine: Awaited<ReturnType<typeof startSystemdMachine>>
  let database: TestDatabase
  let [serve, worker] = [0, 0]

  beforeAll(async () => {
    database = await createTestDatabase()
    machine = await startSystemdMachine()
    ;[serve = 0, worker = 0] = await freePorts(2)
    const env = [
      `DATABASE_URL=${database.url}`,
      `APP_SECRET=${'x'.repeat(40)}`,
      'PUBLIC_URL=https://shop.example.com',
      'HOST=127.0.0.1'
    ]
    const put = (path: string, text: string) =>
      machine.shell(
        `mkdir -p "$(dirname '${path}')" && echo '${Buffer.from(text).toString('base64')}' | base64 -d > '${path}'`
      )
    await put('/etc/netlet/netlet.env', env.join('\n'))
    for (const name of ['netlet-serve@.service', 'netlet-worker@.service']) {
      await put(`/etc/systemd/system/${name}`, readFileSync(`${root}/deploy/systemd/${name}`, 'utf8'))
      await put(`/etc/systemd/system/${name}.d/soon.conf`, '[Service]\nWatchdogSec=8\n')
    }
    await machine.shell(`chmod 755 /etc/netlet && useradd --system netlet && mkdir -p /opt/netlet &&
      mount --bind '${root}' /opt/netlet && systemctl daemon-reload`)
  })
  afterAll(async () => {
    await machine?.close()
    await database?.drop()
  })

  const property = async (unit: string, name: string) =>
    (await machine.shell(`systemctl show ${unit} -p ${name} --value`)).trim()
  const ready = async (port: number) => (await fetch(`http://127.0.0.1:${port}/readyz`)).status

  test('serve and worker are ready when systemd says that they have started', async () => {
    await machine.shell(`systemctl start netlet-serve@${serve} netlet-worker@${worker}`)
    expect([await ready(serve), await ready(worker)]).toEqual([200, 200])
    expect(await machine.shell(`ps -o user= -p ${await property(`netlet-serve@${serve}`, 'MainPID')}`)).toMatch(
      /^netlet/
    )
  })

  test('a process whose loop hangs is started again, and one that turns is left alone', async () => {
    const [hangs, turns] = [`netlet-serve@${serve}`, `netlet-worker@${worker}`]
    const before = await property(hangs, 'MainPID')
    await machine.shell(`kill -STOP ${before}`)
    await expect.poll(() => property(hangs, 'NRestarts'), { timeout: 90_000 }).toBe('1')
    await expect.poll(() => property(hangs, 'ActiveState'), { timeout: 90_000 }).toBe('active')
    expect(await ready(serve)).toBe(200)
    expect(await property(turns, 'NRestarts')).toBe('0')
  })

  test('both end when they are asked to', async () => {
    await machine.shell(`systemctl stop netlet-serve@${serve} netlet-worker@${worker}`)
    for (const unit of [`netlet-serve@${serve}`, `netlet-worker@${worker}`])
      expect([await property(unit, 'ActiveState'), await property(unit, 'Result')]).toEqual(['inactive', 'success'])
  })
})
