import '../../kit/styles/forms.ts'
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { TabBar, column, defineResource, integer, moment, oneOf } from '../kit/index.ts'
import { IconEye, IconMailForward, IconSend } from '@tabler/icons-react'
import { BLOCK_CAUSES, type BlockedAddress, type SentMail } from '@netlet/contract'
import { mail } from '../../api/routes.ts'
import { none } from '../../kit/none.tsx'
import { MAIL_STATES } from '@netlet/contract/states'
import { Failure, Kind, Language, State, Template } from './cells.tsx'
import { MailDrawer } from './mail-drawer.tsx'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ErrorState } from '../../kit/states.tsx'
import { useAddress } from '../../kit/use-address.ts'
import classes from './mails.module.css'

/** Every template in each language, filled with sample data. */
function Previews() {
  const t = useT()
  const language = useLanguage()
  const { data, error, refetch } = useQuery(read(mail.templates))
  const { query, change } = useAddress()
  const chosen = query.get('template')
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  const keyOf = (one: { template: string; language: string }) => `${one.template} ${one.language}`
  const shown = data?.find(one => keyOf(one) === chosen) ?? data?.find(one => one.language === language)
  return (
    <div className={classes.previews}>
      <ul className={classes.templates} aria-label={t('mails.preview')}>
        {data?.map(one => (
          <li key={keyOf(one)}>
            <button
              type="button"
              aria-pressed={one === shown}
              onClick={() => change({ template: keyOf(one) }, { push: true })}
            >
              <span>{one.subject}</span>
              <span className="dim mono">{keyOf(one)}</span>
              <span className="dim">{t(`mails.kindOf.${one.kind}`)}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown && (
        // Sandboxed without scripts, forms or our origin, because templates contain customers' input.
        <iframe
          className={classes.frame}
          sandbox=""
          srcDoc={shown.html}
          title={t('mails.previewOf', { template: keyOf(shown) })}
        />
      )}
    </div>
  )
}

/** Every mail that the shop sent, and its result. The drawer shows its text. */
const MailLog = defineResource({
  key: 'mails',
  list: mail.mails,
  address: ['tab'],
  nameOf: row => row.to,
  columns: [
    integer('id', { optional: true }),
    column('to', (row: SentMail) => row.to, { lead: true }),
    column('template', (row: SentMail) => <Template name={row.template} />),
    column('kind', (row: SentMail) => <Kind row={row} />),
    column('language', (row: SentMail) => <Language row={row} />, { optional: true }),
    column('state', (row: SentMail) => <State row={row} />),
    column('error', (row: SentMail) => <Failure row={row} />, { wide: true }),
    moment('created_at'),
    moment('sent_at', { optional: true })
  ],
  sort: ['id'],
  filters: [oneOf('state', MAIL_STATES, 'mails.is')],
  drawer: MailDrawer,
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id), needs: mail.mail },
    {
      name: 'sendAgain',
      icon: IconSend,
      route: mail.sendAgain,
      whyNot: ({ send_again }) => (send_again === 'possible' ? undefined : `whyNot.mail.${send_again}`),
      confirm: (t, row) => ({ title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to: row.to }) }),
      success: t => t('mails.sentAgain')
    }
  ],
  moving: row => row.state === 'waiting',
  problem: row => row.state === 'failed',
  csv: true
})

/** Addresses that the shop does not mail until an operator releases them. */
const BlockedAddresses = defineResource({
  key: 'blocks',
  list: mail.blocks,
  address: ['tab'],
  nameOf: row => row.address,
  columns: [
    integer('id', { optional: true }),
    column('address', (row: BlockedAddress) => row.address, { lead: true }),
    column('cause', (row: BlockedAddress) => <Cause row={row} />),
    column('reason', (row: BlockedAddress) => row.reason || none, { wide: true }),
    column('source', (row: BlockedAddress) => <Source row={row} />),
    moment('at')
  ],
  sort: ['id'],
  filters: [oneOf('cause', BLOCK_CAUSES, 'blocks.causeIs')],
  rowActions: [
    {
      name: 'lift',
      icon: IconMailForward,
      route: mail.liftBlock,
      confirm: (t, { address, cause }) => ({
        title: t('blocks.lift'),
        body: t(cause === 'complained' ? 'blocks.liftBodyComplained' : 'blocks.liftBody', { address })
      }),
      success: t => t('blocks.lifted')
    }
  ],
  csv: true
})

function Cause({ row }: { row: BlockedAddress }) {
  const t = useT()
  return <>{t(`blocks.causeIs.${row.cause}`)}</>
}

function Source({ row }: { row: BlockedAddress }) {
  const t = useT()
  return <>{t(`blocks.sourceIs.${row.source}`)}</>
}

const TABS = ['log', 'blocked', 'preview'] as const

export default function MailsPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const tab = TABS.find(name => name === params.get('tab')) ?? 'log'
  return (
    <Tabs value={tab} onChange={id => id && setParams(id === 'log' ? {} : { tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        <Tabs.Tab value="log">{t('mails.log')}</Tabs.Tab>
        <Tabs.Tab value="blocked">{t('mails.blocked')}</Tabs.Tab>
        <Tabs.Tab value="preview">{t('mails.preview')}</Tabs.Tab>
      </TabBar>
      <Tabs.Panel value="log" pt="md">
        <MailLog />
      </Tabs.Panel>
      <Tabs.Panel value="blocked" pt="md">
        <BlockedAddresses />
      </Tabs.Panel>
      <Tabs.Panel value="preview" pt="md">
        <Previews />
      </Tabs.Panel>
    </Tabs>
  )
}
