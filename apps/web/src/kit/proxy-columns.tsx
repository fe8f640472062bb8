import type { Proxy } from '@netlet/contract'
import { useT } from '../i18n/account.ts'
import type { Column } from './data-table.tsx'
import { Delay } from './delay.tsx'
import { hostPort } from './host-port.ts'
import classes from './proxy-columns.module.css'
import { Ago } from './time.tsx'

/** What is shown of an order's proxies, to its customer and to administrators. */
export function useProxyColumns(): Column<Proxy>[] {
  const t = useT()
  return [
    {
      key: 'ip',
      title: t('proxy.address'),
      lead: true,
      render: proxy => <span className="mono">{hostPort(proxy.ip, proxy.port)}</span>
    },
    { key: 'user', title: t('proxy.username'), render: proxy => <span className="mono">{proxy.username}</span> },
    { key: 'password', title: t('proxy.password'), render: proxy => <span className="mono">{proxy.password}</span> },
    { key: 'status', title: t('proxy.status'), render: proxy => <Status status={proxy.status} /> },
    { key: 'google', title: 'Google', align: 'end', render: proxy => <Delay ms={proxy.google_delay} /> },
    { key: 'bing', title: 'Bing', align: 'end', render: proxy => <Delay ms={proxy.bing_delay} /> },
    { key: 'amazon', title: 'Amazon', align: 'end', render: proxy => <Delay ms={proxy.amazon_delay} /> },
    { key: 'updated', title: t('proxy.updated'), render: proxy => <Ago at={proxy.updated_at} /> }
  ]
}

function Status({ status }: { status: boolean | null }) {
  const t = useT()
  const tone = status === null ? 'unknown' : status ? 'good' : 'bad'
  return (
    <span className={classes.status} data-tone={tone}>
      {t(`proxy.${tone}`)}
    </span>
  )
}
