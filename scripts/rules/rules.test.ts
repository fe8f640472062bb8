import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { columnDefaultViolations, hiddenTableViolations } from './column-defaults.ts'
import { plainWordViolations } from './plain-words.ts'
import { unboundedTextViolations } from './unbounded-texts.ts'
import { commitViolations } from './commits.ts'
import { importViolations, readDomainImports, readImports } from './imports.ts'
import { migrationViolations } from './migrations.ts'
import { namedFileViolations } from './named-files.ts'
import { tableWriteViolations } from './table-writes.ts'
import { domainPicture } from '../docs/documents.ts'

const S = 'apps/server/src'

/** A small tree without violations; each test adds one file. */
const TREE: Record<string, string> = {
  'package.json': '{ "type": "module" }',
  'packages/contract/src/index.ts': 'export const routes = {}\n',
  [`${S}/app.ts`]: "import './domains/orders/index.ts'\n",
  [`${S}/infra/tables.ts`]: "export const auditLog = pgTable('audit_log', {})\n",
  [`${S}/integrations/shopify/client.ts`]: "import '../../infra/tables.ts'\n",
  [`${S}/domains/orders/index.ts`]: "export * from './queries/list.ts'\nimport '../servers/index.ts'\n",
  [`${S}/domains/orders/queries/list.ts`]: "import { users } from '../../accounts/tables.ts'\nexport const u = users\n",
  [`${S}/domains/orders/tables.ts`]:
    "import '../accounts/tables.ts'\nexport const orders = pgTable(\n  'orders', {})\nexport const orderEvents = pgTable('order_events', {})\n",
  [`${S}/domains/servers/index.ts`]: "export { save } from './save.ts'\nexport { servers } from './tables.ts'\n",
  [`${S}/domains/servers/save.ts`]:
    "import { servers } from './tables.ts'\nexport const save = tx => tx.update(servers).set({})\n",
  [`${S}/domains/servers/tables.ts`]: "export const servers = pgTable('servers', {})\n",
  [`${S}/domains/accounts/index.ts`]: 'export {}\n',
  [`${S}/domains/accounts/tables.ts`]: "export const users = pgTable('users', {})\n",
  [`${S}/domains/orders/orders.test.ts`]:
    "import '../servers/save.ts'\nimport { servers } from '../servers/tables.ts'\ntx.delete(servers)\n",
  'apps/web/src/kit/button.tsx': 'export const Button = () => null\n',
  'apps/web/src/api/client.ts': "import '../../../../packages/contract/src/index.ts'\nexport {}\n",
  'apps/web/src/shop/landing/page.tsx': "import '../../kit/button.tsx'\nimport '../../api/client.ts'\n",
  'apps/web/src/account/page.tsx': 'export {}\n',
  'apps/web/src/admin/kit/table.tsx': 'export {}\n',
  'apps/web/src/admin/orders/page.tsx': "import '../kit/table.tsx'\n",
  'apps/web/src/app/session.ts': 'export {}\n',
  'apps/agent/src/main.ts': 'export {}\n',
  'apps/agent/test/test-agent.ts': "import '../../server/src/app.ts'\n",
  'apps/sandbox/src/main.ts': 'export {}\n'
}

let root = ''
afterEach(() => rmSync(root, { recursive: true, force: true }))

async function treeWith(files: Record<string, string>): Promise<string> {
  root = mkdtempSync(join(realpathSync(tmpdir()), 'netlet-rules-'))
  for (const [name, text] of Object.entries({ ...TREE, ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

const rulesBrokenBy = async (files: Record<string, string>): Promise<string[]> => {
  const violations = importViolations(await readImports(await treeWith(files)))
  return [...new Set(violations.map(({ rule }) => rule))]
}

describe('imports', () => {
  test('a tree that keeps the rules has no violation', async () => {
    expect(await rulesBrokenBy({})).toEqual([])
  })

  const UP = '../../../..'
  const forbidden: Array<[rule: string, file: string, text: string]> = [
    ['web-to-contract', 'apps/web/src/kit/x.ts', "import '../../../server/src/app.ts'"],
    ['web-to-contract', 'apps/web/src/shop/a/b/x.ts', `import '${UP}/../../e2e/x.ts'`],
    ['agent-to-contract', 'apps/agent/src/net/x.ts', "import '../../../server/src/infra/tables.ts'"],
    ['sandbox-to-contract', 'apps/sandbox/src/x.ts', "export * from '../../agent/src/main.ts'"],
    ['server-to-contract', `${S}/infra/x.ts`, "import type { A } from '../../../agent/src/main.ts'"],
    ['contract-is-lowest', 'packages/contract/src/x.ts', `import '../../../${S}/infra/tables.ts'`],
    ['no-tests-in-production', `${S}/domains/orders/x.ts`, "import './orders.test.ts'"],
    ['no-tests-in-production', 'apps/agent/src/x.ts', "import '../test/test-agent.ts'"],
    ['infra-knows-no-domain', `${S}/infra/db/deep/x.ts`, "import '../../../domains/orders/index.ts'"],
    ['infra-knows-no-domain', `${S}/infra/y.ts`, "import '../integrations/shopify/client.ts'"],
    ['integrations-know-no-domain', `${S}/integrations/mail/x.ts`, "await import('../../domains/servers/index.ts')"],
    ['domains-know-no-app', `${S}/domains/servers/x.ts`, "import '../../main.ts'"],
    ['domain-through-its-index', `${S}/domains/orders/y.ts`, "import '../servers/save.ts'"],
    ['domain-through-its-index', `${S}/domains/orders/queries/deep/x.ts`, "import '../../../servers/save.ts'"],
    ['domain-has-a-place', `${S}/domains/loans/x.ts`, "import '../accounts/index.ts'"],
    ['servers-imports-down-only', `${S}/domains/servers/y.ts`, "import '../orders/index.ts'"],
    ['accounts-imports-down-only', `${S}/domains/accounts/queries/x.ts`, "import '../../orders/tables.ts'"],
    ['audit-imports-down-only', `${S}/domains/audit/index.ts`, "import type { U } from '../accounts/index.ts'"],
    ['kit-is-shared', 'apps/web/src/kit/x.tsx', "import '../app/session.ts'"],
    ['kit-is-shared', 'apps/web/src/kit/deep/x.tsx', "import '../../admin/kit/table.tsx'"],
    ['screens-stay-apart', 'apps/web/src/shop/x.tsx', "import '../account/page.tsx'"],
    [
      'screens-stay-apart',
      'apps/web/src/account/deep/x.tsx',
      "const page = () => import('../../admin/orders/page.tsx')"
    ],
    ['screens-stay-apart', 'apps/web/src/admin/orders/x.tsx', "import '../../shop/landing/page.tsx'"],
    ['api-and-i18n-below-screens', 'apps/web/src/i18n/x.ts', "import '../app/session.ts'"],
    ['api-and-i18n-below-screens', 'apps/web/src/api/x.ts', "import '../kit/button.tsx'"],
    ['nothing-unresolved', 'apps/agent/src/y.ts', "import './gone.ts'"]
  ]
  test('each that a rule forbids is found, and no other', async () => {
    const files = Object.fromEntries(forbidden.map(([, file, text]) => [file, `${text}\n`]))
    const tree = await treeWith({ [`${S}/main.ts`]: 'export {}', 'e2e/x.ts': 'export {}', ...files })
    const found = importViolations(await readImports(tree)).map(({ rule, where }) => `${rule}: ${where}`)
    expect([...new Set(found)].toSorted()).toEqual(forbidden.map(([rule, file]) => `${rule}: ${file}`).toSorted())
  })

  test('no-circular-imports: of type imports too', async () => {
    const files = {
      'apps/agent/src/a.ts': "import type { B } from './b.ts'\nexport type A = B\n",
      'apps/agent/src/b.ts': "import type { A } from './a.ts'\nexport type B = A\n"
    }
    expect(await rulesBrokenBy(files)).toEqual(['no-circular-imports'])
  })
})

describe('writes of tables', () => {
  const FILE = `${S}/domains/orders/deep/write.ts`
  const writes = async (text: string, file = FILE) =>
    tableWriteViolations(await treeWith({ [file]: text })).map(({ where, what }) => `${where} ${what.split(',')[0]}`)
  const from = (path: string, names = '{ users }') => `import ${names} from '${path}'\n`
  const users = from('../../accounts/tables.ts')

  test('the owner writes, tests write, others read', async () => {
    expect(
      await writes(
        `${users}db.select().from(users)\nmap.delete(key)\nsql\`select 1 from \${users} for update of \${users}\``
      )
    ).toEqual([])
  })

  test.each([
    ['insert', `${users}tx.insert(users).values({})`, 'calls insert on users'],
    ['update', `${users}tx.with(a).update(users).set({})`, 'calls update on users'],
    ['delete', `${users}tx?.delete(users)`, 'calls delete on users'],
    ['a computed name', `${users}tx['insert'](users)`, 'calls insert on users'],
    ['another name', `${from('../../accounts/tables.ts', '{ users as u }')}tx.update(u)`, 'calls update on users'],
    ['a namespace', `${from('../../accounts/tables.ts', '* as t')}tx.update(t.users)`, 'calls update on users'],
    [
      'what an index passes on',
      `${from('../../servers/index.ts', '{ servers }')}tx.delete(servers)`,
      'calls delete on servers'
    ],
    ['a variable', `${users}const target = users; tx.update(target)`, 'calls update on users'],
    ['a table in an object', `${users}const all = { users }; tx.update(all.users)`, 'calls update on users'],
    ['a loop', `${users}for (const t of [users]) tx.delete(t)`, 'calls delete on users'],
    ['SQL: insert', `${users}sql\`insert into \${users} values (1)\``, 'writes in SQL users'],
    ['SQL: update', `${users}sql\`with a as (select 1) update \${users} set a = 1\``, 'writes in SQL users'],
    ['SQL: delete', `${users}sql\`DELETE FROM \${users}\``, 'writes in SQL users'],
    ['SQL: by name', `tx.execute(sql\`update users set a = 1\`)`, 'writes in SQL users'],
    ['SQL: raw', `sql.raw('truncate users')`, 'writes in SQL users']
  ])('%s', async (_, text, what) => {
    expect(await writes(text)).toEqual([`${FILE}:${text.split('\n').length} ${what}`])
  })

  const own = from('../tables.ts', '{ orders }')
  const OUTSIDE = 'outside of a command: write on the transaction of its unit.'

  test.each([
    ['the transaction of a command', `${own}tx.insert(orders); unit.tx.with(a).update(orders).set({})`],
    ['a savepoint of it', `${own}await tx.transaction(savepoint => savepoint.delete(orders).where(a))`],
    ['what is no table', `${own}const seen = new Map(); seen.delete(orders.id); createHash('md5').update(text)`],
    ['a query', `${own}db.execute(sql\`select 1 from \${orders}\`)`]
  ])('commands write: %s', async (_, text) => {
    expect(await writes(text)).toEqual([])
  })

  test.each([
    ['a transaction of its own', `${own}ctx.db.transaction(tx => tx.update(orders))`, 'transaction'],
    ['a transaction of the database', `${own}db.transaction(work)`, 'transaction'],
    ['an insert', `${own}ctx.db.insert(orders).values({})`, 'insert'],
    ['an update', `${own}db.with(a).update(orders).set({})`, 'update'],
    ['a delete', `${own}database['delete'](orders)`, 'delete'],
    ['SQL', `${own}db.execute(sql\`update \${orders} set a = 1\`)`, 'execute'],
    ['SQL by name', `db.execute(sql\`delete from orders\`)`, 'execute']
  ])('no write outside of a command: %s', async (_, text, method) => {
    expect(await writes(text)).toEqual([`${FILE}:${text.split('\n').length} calls ${method} ${OUTSIDE}`])
  })

  test('only the command opens transactions', async () => {
    const text = 'ctx.db.transaction(work)'
    expect(await writes(text, `${S}/infra/command.ts`)).toEqual([])
    expect(await writes(text, `${S}/infra/jobs.ts`)).toEqual([`${S}/infra/jobs.ts:1 calls transaction ${OUTSIDE}`])
  })

  test('what is put together above the domains writes nothing', async () => {
    const text = `${from('./domains/accounts/tables.ts')}tx.update(users)`
    expect(await writes(text, `${S}/app.ts`)).toEqual([`${S}/app.ts:2 calls update on users`])
  })

  test("infra's tables are infra's", async () => {
    const text = `${from('../../infra/tables.ts', '{ auditLog }')}tx.insert(auditLog)`
    expect(await writes(text, `${S}/domains/audit/index.ts`)).toEqual([
      `${S}/domains/audit/index.ts:2 calls insert on auditLog`
    ])
  })
})

test('a table is declared in a tables.ts, where the next migration finds it', async () => {
  const text = "const hidden = pgTable('hidden', {})\n"
  const files = { [`${S}/domains/orders/tables.ts`]: text, [`${S}/domains/orders/figures.ts`]: text }
  expect(hiddenTableViolations(await treeWith(files)).map(({ where }) => where)).toEqual([
    `${S}/domains/orders/figures.ts`
  ])
})

test.each([
  ['create table "new" ("id" bigint not null)', true],
  ['ALTER TABLE "orders" ADD COLUMN "note" text', true],
  [`ALTER TABLE "orders" ADD COLUMN "kind" text DEFAULT 'plain' NOT NULL`, true],
  ['ALTER TABLE "orders" ALTER COLUMN "note" DROP NOT NULL', true],
  ['-- contracts: the version before reads it no more\nALTER TABLE "orders" DROP COLUMN "note"', true],
  ['ALTER TABLE "orders" DROP COLUMN "note"', false],
  ['ALTER TABLE "orders" RENAME COLUMN "note" TO "text"', false],
  ['ALTER TABLE "orders" ALTER COLUMN "note" SET NOT NULL', false],
  ['ALTER TABLE "orders" ADD COLUMN "kind" text NOT NULL', false],
  ['drop table "orders"', false]
])('processes of the version before go on after %s: %s', async (text, goOn) => {
  const landed = { 'apps/server/migrations/0102_old.sql': 'drop table "old"' }
  const found = migrationViolations(await treeWith({ ...landed, 'apps/server/migrations/0103_new.sql': text }))
  expect(found.map(({ where }) => where)).toEqual(goOn ? [] : ['apps/server/migrations/0103_new.sql'])
})

describe('defaults of columns', () => {
  const FILE = `${S}/domains/orders/tables.ts`
  const violations = async (column: string) =>
    columnDefaultViolations(
      await treeWith({ [FILE]: `export const orders = pgTable('orders', {\n  at: ${column}\n})\n` })
    )

  test.each(['instant().notNull()', 'text().default(sql`gen_random_uuid()`)', "text().default('now()')"])(
    'allowed: %s',
    async column => {
      expect(await violations(column)).toEqual([])
    }
  )

  test.each([
    'instant().notNull().defaultNow()',
    'instant().default(sql`now()`)',
    "instant().default(\n    sql`now() + interval '1 day'`\n  )",
    'instant().default(sql`clock_timestamp()`)',
    'instant().default(sql`CURRENT_TIMESTAMP`)',
    'date().default(sql`current_date`)'
  ])('refused: %s', async column => {
    expect(await violations(column)).toMatchObject([{ rule: 'no-database-clock', where: `${FILE}:2` }])
  })
})

describe('files named by path', () => {
  const FILE = 'scripts/demo/a.ts'
  const violations = async (text: string) => namedFileViolations(await treeWith({ [FILE]: text }))

  test.each([
    "run('scripts/demo/a.ts')",
    "new URL('./a.ts', import.meta.url)",
    "run('node_modules/apps/gone.js')",
    "run('gone.ts')",
    '// As in a.ts, demo/a.ts, `*.gone.ts` and Node.js.'
  ])('allowed: %s', async text => {
    expect(await violations(text)).toEqual([])
  })

  test.each([
    "run('scripts/demo/gone.ts')",
    "new URL('./gone.ts', import.meta.url)",
    '// As in apps/web/src/gone.tsx.',
    '// See gone.ts.',
    '/** Filled by web/a.ts. */'
  ])('refused: %s', async text => {
    expect(await violations(text)).toMatchObject([{ rule: 'named-files', where: `${FILE}:1` }])
  })
})

describe('texts of other services', () => {
  const FILE = `${S}/integrations/shopify/shape.ts`
  const violations = async (text: string) => unboundedTextViolations(await treeWith({ [FILE]: text }))

  test.each(['z.string().max(20)', 'z.string().min(1).max(20)', 'z.record(z.string(), z.unknown())', 'Name.nullish()'])(
    'allowed: %s',
    async text => {
      expect(await violations(text)).toEqual([])
    }
  )

  test.each(['z.string()', 'z.string().nullish()', 'z.string().min(1)', 'z.record(z.string(), z.string())'])(
    'refused: %s',
    async text => {
      expect(await violations(text)).toMatchObject([{ rule: 'unbounded-texts', where: `${FILE}:1` }])
    }
  )
})

describe('words of comments', () => {
  const FILE = 'apps/web/src/kit/a.tsx'
  const violations = async (text: string) => plainWordViolations(await treeWith({ [FILE]: text }))

  test.each(["export const a = 'nobody'", '// An operator saves it.', '/** Anewly made: a word of its own. */'])(
    'allowed: %s',
    async text => {
      expect(await violations(text)).toEqual([])
    }
  )

  test.each(['// Nobody saves it.', '/** What was told\n * of it. */', 'const a = 1 /* anew */'])(
    'refused: %s',
    async text => {
      expect(await violations(text)).toMatchObject([{ rule: 'plain-words', where: `${FILE}:1` }])
    }
  )

  test.each([
    ['packages/contract/src/a.ts', "export const a = 'It failed for good.'", 1],
    ['packages/contract/src/a.ts', 'export const noBody = true', 0],
    ['apps/web/src/i18n/a.en.json', '{ "a": "Nobody is here." }', 1],
    ['apps/web/src/i18n/a.zh-CN.json', '{ "nobody": "" }', 0]
  ])('texts that are shown: %s %s', async (file, text, count) => {
    expect(plainWordViolations(await treeWith({ [file]: text }))).toHaveLength(count)
  })
})

test('the picture of the domains shows who imports whom', async () => {
  const picture = domainPicture(await readDomainImports(await treeWith({})))
  expect(picture).toContain('orders --> servers')
  expect(picture).toContain('orders -.-> accounts')
  expect(picture).not.toContain('servers -')
})

test('subjects of commits are short from the day on which the rule was written down', async () => {
  const folder = await treeWith({})
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })
  const commit = (subject: string) => git('commit', '-q', '--allow-empty', '-m', subject)
  expect(commitViolations(folder)).toEqual([])
  git('init', '-q')
  commit('x'.repeat(100))
  writeFileSync(join(folder, 'CONTRIBUTING.md'), 'Short subjects.')
  git('add', 'CONTRIBUTING.md')
  commit('Write the rule down')
  commit('y'.repeat(72))
  expect(commitViolations(folder)).toEqual([])
  commit('z'.repeat(73))
  expect(commitViolations(folder)).toMatchObject([{ rule: 'short-commit-subjects' }])
})
