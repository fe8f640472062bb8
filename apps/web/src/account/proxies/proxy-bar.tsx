import type { Order, Proxy } from '@netlet/contract'
import { Button } from '@mantine/core'
import {
  IconActivity,
  IconChevronDown,
  IconCode,
  IconCopy,
  IconDownload,
  IconEye,
  IconEyeOff
} from '@tabler/icons-react'
import { useId, useRef, useState } from 'react'
import { useT } from '../../i18n/proxies.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { numberText } from '../../kit/money.ts'
import { hasProxies } from '../../kit/order-obstacles.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { FormatPicker } from './format-picker.tsx'
import type { FormatChoice } from './formats.ts'
import classes from './panel.module.css'
import { type useOrderTasks, whyNotNow } from './proxy-actions.tsx'
import { addressOf, type Reveal } from './proxy-cells.tsx'
import type { TakeOut } from './use-copy-and-export.ts'
import { isFiltered, type ProxyList } from './use-proxy-list.ts'

type Props = {
  order: Order | undefined
  loading: boolean
  first: Proxy | undefined
  picked: ReadonlyMap<number, Proxy>
  /** The filtered list. Without a selection, Copy and Export apply to what it matches; without filters, to all. */
  list: Pick<ProxyList, 'filters' | 'total' | 'addresses'>
  onUnpick: () => void
  choice: FormatChoice
  /** Some of the proxies speak TLS. */
  secure: boolean
  onChoose: (choice: FormatChoice) => void
  takeOut: TakeOut
  tasks: ReturnType<typeof useOrderTasks>
  reveal: Reveal
}

/** Actions on the proxies listed below. The bar stays above them. */
export function ProxyBar(props: Props) {
  const { order, loading, first, picked, list, onUnpick, choice, secure, onChoose, takeOut, tasks, reveal } = props
  const t = useT()
  const [code, setCode] = useState(false)
  /** On a phone. */
  const [open, setOpen] = useState(false)
  const id = useId()
  const copy = useRef<HTMLButtonElement>(null)
  const chosen = [...picked.values()].map(addressOf)
  const isPicked = chosen.length > 0
  const isSome = isPicked || isFiltered(list.filters)
  const which = isPicked ? () => chosen : isSome ? list.addresses : undefined
  const count = numberText(isPicked ? chosen.length : (list.total ?? 0))
  // Without an order each button says that one must be selected.
  const off = loading || (order !== undefined && !hasProxies(order))
  return (
    <div className={classes.tools} role="group" aria-label={t('proxy.tools')}>
      <Button
        ref={copy}
        variant="default"
        size="sm"
        leftSection={<IconCopy size={16} aria-hidden />}
        disabled={off}
        loading={takeOut.copy.isPending}
        onClick={() => takeOut.copy.mutate(which)}
      >
        {t(isSome ? 'proxy.copyPicked' : 'proxy.copy', { count })}
      </Button>
      <Button
        size="sm"
        leftSection={<IconDownload size={16} aria-hidden />}
        disabled={off}
        loading={takeOut.save.isPending}
        onClick={() => takeOut.save.mutate(which)}
      >
        {t(isSome ? 'proxy.exportPicked' : 'proxy.export', { count })}
      </Button>
      {isPicked && (
        <Button
          variant="subtle"
          color="gray"
          size="sm"
          onClick={() => {
            passFocus(copy.current)
            onUnpick()
          }}
        >
          {t('orders.unselect')}
        </Button>
      )}
      <Button
        variant="default"
        size="sm"
        className={classes.more}
        aria-expanded={open}
        aria-controls={id}
        rightSection={<IconChevronDown size={16} aria-hidden />}
        onClick={() => setOpen(!open)}
      >
        {t('proxy.more')}
      </Button>
      <div id={id} className={classes.rest} data-open={open || undefined}>
        <FormatPicker choice={choice} onChoose={onChoose} secure={secure} />
        <span className={classes.gap} />
        <UnavailableHint why={order && whyNotNow(order, 'check', t)}>
          <Button
            variant="default"
            size="sm"
            leftSection={<IconActivity size={16} aria-hidden />}
            disabled={off}
            loading={tasks.out === 'check'}
            onClick={tasks.check}
          >
            {t('proxy.check')}
          </Button>
        </UnavailableHint>
        <Button
          variant="default"
          size="sm"
          leftSection={reveal.all ? <IconEyeOff size={16} aria-hidden /> : <IconEye size={16} aria-hidden />}
          aria-pressed={reveal.all}
          disabled={off}
          onClick={() => reveal.showAll(!reveal.all)}
        >
          {t('proxy.show')}
        </Button>
        <Button
          variant="default"
          size="sm"
          leftSection={<IconCode size={16} aria-hidden />}
          disabled={off || !first}
          onClick={() => setCode(true)}
        >
          {t('code.open')}
        </Button>
      </div>
      {code && first && <CodeDialog proxy={first} onClose={() => setCode(false)} />}
    </div>
  )
}
