import { Button, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './addresses.module.css'
import { instantOf, localTime, TimeInput } from '../kit/index.ts'

type Props = { address: string; at: string | null; onAsk: (next: { address: string; at: string | null }) => void }

export function Question({ address, at, onAsk }: Props) {
  const t = useT()
  const [typed, setTyped] = useState(address)
  const [time, setTime] = useState(localTime(at, 'second'))
  return (
    <form
      role="search"
      className={classes.question}
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
