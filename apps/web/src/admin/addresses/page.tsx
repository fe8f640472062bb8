import '../kit/styles.ts'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { EmptyState } from '../../kit/states.tsx'
import { History } from './history.tsx'
import { Holders } from './holders.tsx'
import { TimeInput, instantOf, localTime } from '../kit/index.ts'
import { Button, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import classes from './addresses.module.css'

type Props = { address: string; at: string | null; onAsk: (next: { address: string; at: string | null }) => void }

function Question({ address, at, onAsk }: Props) {
  const t = useT()
  const [typed, setTyped] = useState(address)
  const [time, setTime] = useState(localTime(at, 'second'))
  return (
    <form
      role="search"
      className={`row bottom ${classes.question}`}
      style={{ gap: '0.6rem' }}
      onSubmit={event => {
        event.preventDefault()
        if (typed.trim()) onAsk({ address: typed.trim(), at: instantOf(time) })
      }}
    >
      <TextInput
        label={t('addresses.address')}
        placeholder="192.0.2.7, 192.0.2.0/24"
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <TimeInput
        precision="second"
        label={t('addresses.at')}
        value={time}
        onChange={event => setTime(event.currentTarget.value)}
      />
      <Button type="submit" leftSection={<IconSearch size={16} aria-hidden />}>
        {t('addresses.ask')}
      </Button>
    </form>
  )
}

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
