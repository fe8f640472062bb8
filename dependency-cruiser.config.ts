import type { IConfiguration, IForbiddenRuleType } from 'dependency-cruiser'
import { DOMAINS, NOT_SHIPPED } from './scripts/rules/layers.ts'

const SERVER = '^apps/server/src/'
const INSIDE = '^(apps|packages|bench|e2e|scripts)/'

/** Forbids production files below `from` to import what `to` matches. Tests and fixtures may reach anywhere. */
const forbid = (name: string, comment: string, from: string, to: string, toNot: string[] = []): IForbiddenRuleType => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, pathNot: NOT_SHIPPED },
  to: { path: to, ...(toNot.length > 0 ? { pathNot: toNot } : {}) }
})

const apps: IForbiddenRuleType[] = [
  forbid('web-to-contract', 'The web app knows the contract only.', '^apps/web/src/', INSIDE, [
    '^apps/web/',
    '^packages/contract/'
  ]),
  forbid('agent-to-contract', 'The agent knows the contract only.', '^apps/agent/', INSIDE, [
    '^apps/agent/',
    '^packages/contract/'
  ]),
  forbid('sandbox-to-contract', 'The stand-ins know the contract only.', '^apps/sandbox/', INSIDE, [
    '^apps/sandbox/',
    '^packages/contract/'
  ]),
  forbid('server-to-contract', 'The server knows the contract only.', '^apps/server/', INSIDE, [
    '^apps/server/',
    '^packages/contract/'
  ]),
  forbid('contract-is-lowest', 'The contract imports nothing of the apps.', '^packages/contract/', INSIDE, [
    '^packages/contract/'
  ]),
  forbid(
    'no-tests-in-production',
    'What is shipped imports no test, fixture or test helper.',
    '^(apps|packages)/',
    '',
    ['^(?!.*(\\.(test|fixture|matrix)\\.tsx?$|/fixtures\\.ts$|/testing/|^apps/agent/test/))']
  )
]

const server: IForbiddenRuleType[] = [
  forbid(
    'infra-knows-no-domain',
    'infra/ knows no domain, no integration and not how the app is put together.',
    `${SERVER}infra/`,
    SERVER,
    [`${SERVER}infra/`]
  ),
  forbid(
    'integrations-know-no-domain',
    'An integration knows its third party and infra/ only.',
    `${SERVER}integrations/`,
    SERVER,
    [`${SERVER}(integrations|infra)/`]
  ),
  forbid(
    'domains-know-no-app',
    'A domain imports domains, infra/ and integrations/: app.ts and workers.ts put the domains together.',
    `${SERVER}domains/`,
    SERVER,
    [`${SERVER}(domains|integrations|infra)/`]
  ),
  forbid(
    'domain-through-its-index',
    'Another domain is used through its index.ts; queries may join the tables of its tables.ts, or of one in a folder of it.',
    `${SERVER}domains/([^/]+)/`,
    `${SERVER}domains/`,
    [`${SERVER}domains/$1/`, `${SERVER}domains/[^/]+/(index|tables)\\.ts$`, `${SERVER}domains/[^/]+/[^/]+/tables\\.ts$`]
  ),
  {
    name: 'domain-has-a-place',
    comment: 'A new domain gets its place in the order of DOMAINS (scripts/rules/layers.ts).',
    severity: 'error',
    scope: 'module',
    from: { path: `${SERVER}domains/`, pathNot: [`${SERVER}domains/(${DOMAINS.join('|')})/`] },
    to: {}
  },
  // Each may import those that follow it in the list.
  ...DOMAINS.slice(1).map((domain, at) =>
    forbid(
      `${domain}-imports-down-only`,
      `${domain} is below ${DOMAINS.slice(0, at + 1).join(', ')}: take a port instead.`,
      `${SERVER}domains/${domain}/`,
      `${SERVER}domains/(${DOMAINS.slice(0, at + 1).join('|')})/`
    )
  )
]

const WEB = '^apps/web/src/'
const web: IForbiddenRuleType[] = [
  forbid(
    'kit-is-shared',
    'kit/ is used by all screens and imports none of them.',
    `${WEB}kit/`,
    `${WEB}(app|shop|account|admin)/`
  ),
  forbid(
    'screens-stay-apart',
    'shop/, account/ and admin/ do not import each other: what they share is in kit/.',
    `${WEB}(shop|account|admin)/`,
    `${WEB}(shop|account|admin)/`,
    [`${WEB}$1/`]
  ),
  forbid(
    'console-tables-have-keys',
    'A table of the console comes from admin/kit, whose keys go through its rows.',
    `${WEB}admin/(?!kit/)`,
    `${WEB}kit/data-table\\.tsx$`
  ),
  forbid(
    'api-and-i18n-below-screens',
    'The client and the catalogues import no screen and no building block of screens.',
    `${WEB}(api|i18n)/`,
    `${WEB}(app|shop|account|admin|kit)/`
  )
]

const config: IConfiguration = {
  forbidden: [
    ...apps,
    ...server,
    ...web,
    {
      name: 'no-circular-imports',
      comment: 'No circular imports, type imports included.',
      severity: 'error',
      from: { pathNot: NOT_SHIPPED },
      to: { circular: true }
    },
    {
      name: 'nothing-unresolved',
      comment: 'An import that cannot be resolved is one that no rule sees.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^virtual:' }
    }
  ],
  options: {
    // TypeScript 7 has no interface for programs that the default parser could use.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] }
  }
}

export default config
