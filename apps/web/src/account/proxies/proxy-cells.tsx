import { useCallback, useState } from 'react'
import type { Proxy } from '@netlet/contract'
import { ActionIcon } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { CopySign } from '../../kit/copy-button.tsx'
import { hostPort } from '../../kit/host-port.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { type FormatChoice, formatProxies, httpsUrl, MASK } from './formats.ts'
import classes from './table.module.css'

const KEY = 'netlet-passwords-shown'

function stored(): boolean {
  try {
    return sessionStorage.getItem(KEY) === '1'
  } catch {
    return false
  }
}

/** Which passwords are visible: all, as this tab remembers, or single ones until the page closes. */
export function useReveal() {
  const [all, setAll] = useState(stored)
  const [single, setSingle] = useState<ReadonlySet<number>>(new Set())
  /** Proxies whose visibility is the opposite of `all`. */
  const toggle = useCallback(
    (id: number) =>
      setSingle(before => {
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    []
  )
  return {
    all,
    showAll: (shown: boolean) => {
      setAll(shown)
      setSingle(new Set())
      try {
        if (shown) sessionStorage.setItem(KEY, '1')
        else sessionStorage.removeItem(KEY)
      } catch {
        // Without storage it lasts until the page closes.
      }
    },
    shows: (id: number) => all !== single.has(id),
    toggle
  }
}
export type Reveal = ReturnType<typeof useReveal>

export const addressOf = ({ ip, port }: Proxy) => hostPort(ip, port)

type PasswordProps = { proxy: Proxy; shown: boolean; onToggle: Reveal['toggle'] }

export function Password({ proxy, shown, onToggle }: PasswordProps) {
  const t = useT()
  return (
    <span className={`row unwrapped inline ${classes.secret}`} style={{ gap: '0.3rem', maxWidth: '100%' }}>
      {shown ? (
        <span className="mono" data-password>
          {proxy.password}
        </span>
      ) : (
        <>
          <span className="mono" aria-hidden>
            {MASK}
          </span>
          <span className="sr-only">{t('proxy.masked')}</span>
        </>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-pressed={shown}
        aria-label={t('proxy.showOf', { address: addressOf(proxy) })}
        onClick={() => onToggle(proxy.id)}
      >
        {shown ? <IconEyeOff size={16} /> : <IconEye size={16} />}
      </ActionIcon>
    </span>
  )
}

export function ProxyStatus({ status }: { status: boolean | null }) {
  const t = useAccountT()
  if (status === null) return <StateBadge tone="off">{t('proxy.unknown')}</StateBadge>
  return <StateBadge tone={status ? 'good' : 'bad'}>{t(status ? 'proxy.good' : 'proxy.bad')}</StateBadge>
}

/** Copies one proxy with its password in the chosen format, or as a line if that is a file or does not apply. */
export function CopyProxy({ proxy, choice }: { proxy: Proxy; choice: FormatChoice }) {
  const t = useT()
  const isFile = choice.format === 'csv' || choice.format === 'json'
  const isLine = isFile || (choice.format === 'https' && httpsUrl(proxy) === null)
  return (
    <CopySign
      text={() => formatProxies([proxy], isLine ? { ...choice, format: 'line' } : choice)}
      name={t('proxy.copyRow', { address: addressOf(proxy) })}
      done={t('copied')}
      failed={t('copyFailed')}
    />
  )
}

/** Selects a proxy or a whole page. The click target is larger than the box. */
export function PickBox(props: { name: string; checked: boolean; some?: boolean; onChange: () => void }) {
  const { name, checked, some = false, onChange } = props
  return (
    <label className={classes.pick}>
      <input
        type="checkbox"
        aria-label={name}
        checked={checked}
        ref={box => {
          if (box) box.indeterminate = some && !checked
        }}
        onChange={onChange}
      />
    </label>
  )
}
