import { IconEraser } from '@tabler/icons-react'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { refresh } from '../../api/query.ts'
import { fleet, inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { risky, WorkButton } from '../kit/index.ts'

/** Milliseconds for which the result shows. */
const SHOWN = 10_000
/** The number of ranges named in the result and in the question. */
const NAMED = { result: 5, question: 20 }
/** The specification's text, if the server sends none. */
const FAILED = '清理失败'

/** Removes ranges without a server or lease. */
export function CleanUnused() {
  const t = useT()
  // Do not disable the button during the question: the focus could not return to it.
  const [asking, setAsking] = useState(false)
  const [running, setRunning] = useState(false)
  const named = (ranges: readonly { cidr: string }[], count: number, most: number) => {
    const first = ranges.slice(0, most).map(({ cidr }) => cidr)
    const more = count - first.length
    return first.join(', ') + (more > 0 ? ` ${t('ranges.cleanMore', { count: more })}` : '')
  }
  const clean = async () => {
    if (asking || running) return
    setAsking(true)
    try {
      const unused = await call(inventory.unusedCidrs, { query: { include_soft_deleted: 'true' } })
      if (unused.count === 0) return notify('good', t('ranges.cleanNone'), SHOWN)
      const body = t('ranges.cleanBody', {
        count: unused.count,
        list: named(unused.cidrs, unused.count, NAMED.question)
      })
      if (!(await confirm(risky({ title: t('ranges.clean'), body, danger: true }, unused.count)))) return
      setRunning(true)
      const { deleted_count: count, cidr_details: details } = await call(inventory.cleanUnusedCidrs, {
        body: { include_soft_deleted: true, plan: unused.plan }
      })
      const list = named(details, count, NAMED.result)
      notify('good', t('ranges.cleaned', { count, list }), SHOWN)
    } catch (error) {
      notify('bad', failureText(error, FAILED), SHOWN)
    } finally {
      setAsking(false)
      setRunning(false)
      void refresh(inventory.cidrs, fleet.servers)
    }
  }
  if (!useMay().mayCall(inventory.cleanUnusedCidrs)) return null
  return (
    <WorkButton
      variant="default"
      working={running}
      aria-busy={asking}
      leftSection={<IconEraser size={16} aria-hidden />}
      onClick={() => void clean()}
    >
      {t('ranges.clean')}
    </WorkButton>
  )
}
