import type { Order } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/proxies.ts'
import { toClipboard } from '../../kit/clipboard.ts'
import { notify } from '../../kit/notify.ts'
import { download, exportFailure, fileName, hostsOf, linesOf, textOf } from './export.ts'
import { fileOf, type FormatChoice } from './formats.ts'

/** Milliseconds. A large order takes a while. */
const EXPORT_TIMEOUT = 30_000

/** Copies or exports the given proxies ('ip:port') or all. Fetched each time, because a password may have changed. */
export function useCopyAndExport(order: Order | undefined, choice: FormatChoice) {
  const t = useT()
  const chosen = () => {
    if (!order) throw new Error(t('proxy.selectFirst'))
    return { params: { id: order.id } }
  }
  const copy = useMutation({
    mutationFn: async (picked: readonly string[]) => {
      const reply = await call(orders.copyProxies, chosen(), { timeout: EXPORT_TIMEOUT })
      return textOf(linesOf(reply, picked), choice, hostsOf(reply))
    },
    onSuccess: async text => {
      const copied = await toClipboard(text)
      notify(copied ? 'good' : 'bad', copied ? t('copied') : t('copyFailed'))
    },
    onError: error => {
      const fallback = error instanceof Error && error.message ? error.message : t('proxy.copyFailed')
      notify('bad', failureText(error, fallback))
    }
  })
  const save = useMutation({
    mutationFn: async (picked: readonly string[]) => {
      const input = chosen()
      const reply = await call(orders.exportProxies, input, { timeout: EXPORT_TIMEOUT })
      const { name, type } = fileOf(fileName(reply?.filename, input.params.id), choice.format)
      download(name, `${textOf(linesOf(reply, picked), choice, hostsOf(reply))}\n`, type)
    },
    onError: error => notify('bad', exportFailure(error))
  })
  return { copy, save }
}
export type TakeOut = ReturnType<typeof useCopyAndExport>
