import '../kit/styles.ts'
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { EmptyState } from '../../kit/states.tsx'
import { History } from './history.tsx'
import { Holders } from './holders.tsx'
import { Question } from './question.tsx'
import { instantOf } from '../kit/index.ts'

/** Who had an address at an instant, before and after, or in a period. The query is in the page's address. */
export default function AddressesPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const [address, at, from, to] = ['address', 'at', 'from', 'to'].map(name => params.get(name)?.trim() ?? '')
  // Links to the present holders use 'now'. Resolve it once, so that the query stays the same.
  const since = useMemo(() => (from === 'now' ? new Date().toISOString() : instantOf(from ?? '')), [from, address])
  const ask = (next: Record<string, string | null>) => {
    const entries = Object.entries({ address: address ?? '', at: at ?? '', from: from ?? '', to: to ?? '', ...next })
    setParams(Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : []))))
  }
  const instant = instantOf(at ?? '')
  const isRange = address?.includes('/') ?? false
  // For a range at an instant, query that millisecond.
  const moment = isRange && !from && !to ? instant : null
  const first = moment ?? since
  const last = moment ? new Date(Date.parse(moment) + 1).toISOString() : instantOf(to ?? '')
  return (
    <div className="stack">
      <p className="dim">{t('addresses.hint')}</p>
      <Question key={`${address} ${at}`} address={address ?? ''} at={instant} onAsk={ask} />
      {!address ? (
        <EmptyState title={t('addresses.none')} body={t('addresses.noneHint')} />
      ) : (
        <>
          {!isRange && <Holders address={address} at={instant} />}
          <History key={`${address} ${first} ${last}`} address={address} from={first} to={last} onAsk={ask} />
        </>
      )}
    </div>
  )
}
