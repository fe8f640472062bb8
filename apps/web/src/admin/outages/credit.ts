import type { OutageEntry } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import type { Tools } from '../kit/index.ts'
import { creditQuestion } from './plan.ts'

/** Asks with the current plan, credits the time, and shows the run above the list. */
export async function credit(outage: OutageEntry, { t, watch, refresh }: Tools): Promise<void> {
  try {
    if (!(await confirm(await creditQuestion(t, outage, currentLanguage())))) return
    const run = await call(fleet.creditOutage, { params: { id: outage.id } })
    if (run) watch(run.id)
    notify('good', t(run ? 'outages.creditBegun' : 'outages.planNone'))
  } catch (error) {
    notify('bad', failureText(error))
  }
  refresh()
}
