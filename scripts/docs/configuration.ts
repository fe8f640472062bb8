import { type About, Environment } from '../../apps/server/src/infra/environment.ts'
import { CONSOLE_SETTINGS, OWN_SETTINGS } from '../../apps/agent/src/variables.ts'
import { AGENT_SETTINGS, type AgentSettingName } from '../../packages/contract/src/agent-settings.ts'

/** `marked`: with an asterisk. */
type Row = { name: string; marked?: true; type?: string; fallback?: string | undefined; meaning: string }

const BACKUP: Row[] = [
  { name: 'BACKUP_PASSPHRASE', meaning: 'locks and opens backups; keep it elsewhere' },
  { name: 'BACKUP_RECIPIENT', meaning: 'instead of a passphrase: the public key of age (`age1…`) that locks backups' },
  { name: 'BACKUP_IDENTITY_FILE', meaning: 'the file with the secret key of age that opens them' }
]

const START: Row[] = [
  { name: 'PORT', fallback: '3000', meaning: 'port of the shop' },
  { name: 'PLATFORM_PORT', fallback: '3001', meaning: 'port of the stand-ins' },
  { name: 'AGENT_PORT', fallback: '65533', meaning: "port of the agent's API" },
  { name: 'PROXY_PORT', fallback: '3128', meaning: 'port of the proxies' },
  { name: 'DATA_DIR', fallback: '`./data`', meaning: 'the folder of all data' },
  { name: 'DEMO_HISTORY', meaning: '`0`: the first start makes a shop without history' },
  { name: 'DATABASE_URL', meaning: 'another PostgreSQL than the one that comes along' },
  { name: 'PUBLIC_URL', fallback: '`http://127.0.0.1:PORT`', meaning: 'the address that browsers use' },
  { name: 'APP_SECRET', fallback: 'generated', meaning: 'kept in `secrets.json` of the data folder, unless it is set' },
  { name: 'AGENT_TOKEN', fallback: 'generated', meaning: 'kept there too, unless it is set' },
  { name: 'LOG_LEVEL', fallback: '`warn`', meaning: 'the lowest level of lines on standard output' }
]

/** `npm start` sets them for the stand-ins. */
const SANDBOX: Row[] = [
  { name: 'SANDBOX_SHOP_URL', fallback: '`http://127.0.0.1:3000`', meaning: 'where the platform sends its webhooks' },
  { name: 'SANDBOX_ACCESS_TOKEN', fallback: '`sandbox-access-token`', meaning: "the platform's access token" },
  { name: 'SANDBOX_API_KEY', fallback: '`sandbox-api-key`', meaning: "the platform app's client id" },
  { name: 'SANDBOX_APP_SECRET', fallback: '`sandbox-app-secret`', meaning: "the platform app's client secret" },
  { name: 'SANDBOX_DISCORD_CLIENT_ID', fallback: '`100000000000000001`', meaning: "the chat app's client id" },
  { name: 'SANDBOX_DISCORD_CLIENT_SECRET', fallback: '`sandbox-discord-secret`', meaning: "the chat app's secret" },
  { name: 'SANDBOX_DISCORD_BOT_TOKEN', fallback: '`sandbox-bot-token`', meaning: "the chat bot's token" },
  { name: 'SANDBOX_HOOK_SECRET', meaning: "signs the webhooks of the demo customer's endpoint" }
]

const shopRows = (inside: boolean): Row[] =>
  Object.entries(Environment.shape).flatMap(([name, schema]) => {
    const about = schema.meta() as About | undefined
    if (!about) throw new Error(`environment.ts says nothing about ${name}`)
    return (about.inside ?? false) === inside ? [{ name, ...about }] : []
  })

const agentRows: Row[] = [
  ...Object.entries(OWN_SETTINGS).map(([name, about]) => ({ name, ...about })),
  ...Object.entries(CONSOLE_SETTINGS).map(([name, about]) => ({
    name,
    marked: true as const,
    fallback: String(AGENT_SETTINGS[name as AgentSettingName].fallback),
    ...about
  }))
]

function table(rows: readonly Row[]): string[] {
  const typed = rows.some(({ type }) => type !== undefined)
  const cells = (texts: string[]) => `| ${texts.map(text => text.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  return [
    cells(['variable', ...(typed ? ['type'] : []), 'default', 'meaning']),
    cells(['---', ...(typed ? ['---'] : []), '---', '---']),
    ...rows.map(({ name, marked, type = '', fallback = '', meaning }) =>
      cells([`\`${name}\`${marked ? String.raw` \*` : ''}`, ...(typed ? [type] : []), fallback, meaning])
    )
  ]
}

/** docs/CONFIGURATION.md: every variable of the environment. */
export const configurationMarkdown = (): string =>
  [
    '# Configuration',
    '',
    'Every variable of the environment, by the program that reads it. The tables are made from the schemas that check the',
    'variables (`environment.ts`, `agent-settings.ts`) by `npm run docs`; a test fails when they are stale. A wrong value',
    'stops the start with one line that says what to set. So does an unknown variable whose name begins with `NETLET_`.',
    'An agent ignores variables that it does not know, because an older program may get the settings of a newer console.',
    'Settings that operators change while the shop runs are in the console under Web Settings.',
    '',
    '## serve, worker, and the other commands of the shop',
    '',
    'Each process reads the same environment.',
    '',
    ...table(shopRows(false)),
    '',
    'Demo mode and tests also set these:',
    '',
    ...table(shopRows(true)),
    '',
    '## backup and restore',
    '',
    'Besides the variables of the shop ([OPERATIONS](OPERATIONS.md#back-up)):',
    '',
    ...table(BACKUP),
    '',
    '## agent',
    '',
    String.raw`\* can be set in the console for each server ([FLEET](FLEET.md#settings-of-a-servers-agent)). _Shared_: divided among`,
    'the workers. Where a limit may be 0, 0 is none.',
    '',
    ...table(agentRows),
    '',
    '## npm start',
    '',
    ...table(START),
    '',
    'It starts the stand-ins (`apps/sandbox`) with these:',
    '',
    ...table(SANDBOX),
    ''
  ].join('\n')
