import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route } from '../../packages/contract/src/route.ts'
import { routes } from '../../packages/contract/src/routes.ts'

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url))
const read = (path: string) => readFileSync(join(deploy, path), 'utf8')
const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined
/** What a program says of a file, errors included. */
const says = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'netlet-deploy-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test.skipIf(!isThere('systemd-analyze'))(
  'systemd understands every line of the units, and finds little exposed',
  () => {
    const units = globSync('systemd/netlet-{serve,worker}@.service', { cwd: deploy })
    expect(units).toHaveLength(2)
    for (const path of units) {
      const unit = read(path)
        .replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true')
        .replace('%i', '3000')
      const file = write(basename(path).replace('@', ''), unit)
      const { text } = says('systemd-analyze', 'verify', '--man=no', file)
      // Newer versions know these two.
      const complaints = text
        .split('\n')
        .filter(line => line !== '' && !/Unknown key (?:name )?'Restart(?:Steps|MaxDelaySec)'/.test(line))
      expect(complaints).toEqual([])
      expect(says('systemd-analyze', 'security', '--offline=true', '--threshold=25', file)).toMatchObject({ status: 0 })
    }
  }
)

test.skipIf(!isThere('systemd-analyze'))('systemd understands the backups and their timers', () => {
  const units = globSync('systemd/netlet-{backup,rehearse}.*', { cwd: deploy })
  expect(units).toHaveLength(4)
  const files = units.map(path => {
    const unit = read(path).replace(
      'ExecStart=/opt/netlet/',
      `ExecStart=${fileURLToPath(new URL('../../', import.meta.url))}`
    )
    return write(basename(path), unit)
  })
  expect(says('systemd-analyze', 'verify', '--man=no', ...files).text).toBe('')
  expect(says('sh', '-n', join(deploy, 'pgbackrest/rehearse.sh'))).toEqual({ status: 0, text: '' })
})

const largestBody = Math.max(
  ...Object.values(routes).flatMap(calls =>
    Object.values(calls as Record<string, Route>).map(route => route.bodyLimit ?? 0)
  )
)

test('the reverse proxies let through the largest body that a call takes', () => {
  const [, nginx] = /client_max_body_size (\d+)m;/.exec(read('nginx/netlet.conf')) ?? []
  const [, caddy] = /max_size (\d+)MiB/.exec(read('caddy/Caddyfile')) ?? []
  expect(largestBody).toBeGreaterThan(1024 * 1024)
  expect(Number(nginx) * 1024 * 1024).toBeGreaterThanOrEqual(largestBody)
  expect(Number(caddy) * 1024 * 1024).toBeGreaterThanOrEqual(largestBody)
})

test.skipIf(!isThere('nginx'))('nginx takes its settings', () => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=shop.example.com', '-days', '1', '-nodes']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore'
  })
  const site = read('nginx/netlet.conf')
    .replace(/ssl_certificate .*;/, `ssl_certificate ${cert};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
  const file = write('nginx.conf', `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${site} }`)
  expect(says('nginx', '-t', '-p', folder, '-c', file).text).toMatch(/syntax is ok[^]*test is successful/)
})

test.skipIf(!isThere('caddy'))('Caddy takes its settings', () => {
  const { status, text } = says(
    'caddy',
    'validate',
    '--adapter',
    'caddyfile',
    '--config',
    join(deploy, 'caddy/Caddyfile')
  )
  expect([status, text]).toEqual([0, expect.stringContaining('Valid configuration')])
})

test.skipIf(!isThere('promtool'))('Prometheus takes the alerts', () => {
  const { status, text } = says('promtool', 'check', 'rules', join(deploy, 'prometheus/netlet-rules.yml'))
  expect([status, text]).toEqual([0, expect.stringMatching(/SUCCESS: \d{2} rules found/)])
  expect(says('promtool', 'check', 'config', join(deploy, 'prometheus/prometheus.yml')).text).toContain('SUCCESS')
})

test('the dashboard is JSON with panels that ask for something', () => {
  const { panels } = JSON.parse(read('grafana/netlet.json')) as { panels: { targets: { expr: string }[] }[] }
  expect(panels.length).toBeGreaterThan(10)
  expect(panels.filter(({ targets }) => targets.length === 0)).toEqual([])
})
