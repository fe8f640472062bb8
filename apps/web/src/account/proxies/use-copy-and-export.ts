import type { Order, ProxyLines } from '@netlet/contract'
import { onlineManager } from '@tanstack/react-query'
import { ApiError, call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { type Key, t, useT } from '../../i18n/proxies.ts'
import { toClipboard } from '../../kit/copy-button.tsx'
import { hostPort } from '../../kit/host-port.ts'
import { notify } from '../../kit/notify.ts'
import { type FormatChoice, fileOf, formatProxies, proxyOfLine } from './formats.ts'

/** Milliseconds. A large order takes a while. */
const EXPORT_TIMEOUT = 30_000

/** Tells the addresses ('ip:port') to take out of an order; without it, all of them. */
type Which = (() => readonly string[] | Promise<readonly string[]>) | undefined

async function addressesOf(which: Which): Promise<readonly string[]> {
  const picked = (await which?.()) ?? []
  // Another check may have changed what the filters match. None is not all.
  if (which && picked.length === 0) throw new Error(t('proxy.none'))
  return picked
}

/** Copies or exports an order's proxies. Fetched each time, because a password may have changed. */
export function useCopyAndExport(order: Order | undefined, choice: FormatChoice) {
  const t = useT()
  const chosen = () => {
    if (!order) throw new Error(t('proxy.selectFirst'))
    return { params: { id: order.id } }
  }
  const copy = useMutation({
    mutationFn: async (which: Which) => {
      const input = chosen()
      const picked = await addressesOf(which)
      const reply = await call(orders.copyProxies, input, { timeout: EXPORT_TIMEOUT })
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
    mutationFn: async (which: Which) => {
      const input = chosen()
      const picked = await addressesOf(which)
      const reply = await call(orders.exportProxies, input, { timeout: EXPORT_TIMEOUT })
      const { name, type } = fileOf(fileName(reply?.filename, input.params.id), choice.format)
      download(name, `${textOf(linesOf(reply, picked), choice, hostsOf(reply))}\n`, type)
    },
    onError: error => notify('bad', exportFailure(error))
  })
  return { copy, save }
}
export type TakeOut = ReturnType<typeof useCopyAndExport>

const byStatus: Record<number, Key> = {
  401: 'export.401',
  403: 'export.403',
  404: 'export.404',
  500: 'export.500'
}

/** The message if an order's lines could not be loaded: the server's words, or one by status. */
export function exportFailure(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error && error.message ? error.message : t('export.failed')
  if (error.message) return failureText(error)
  if (error.kind === 'format' && error.status === 200) return t('export.malformed')
  if (error.status === 0) return onlineManager.isOnline() ? t('export.noData') : failureText(error)
  const known = byStatus[error.status]
  return known ? t(known) : t('export.status', { status: error.status })
}

/**
 * The lines of a reply. @throws with a message to show if there are none
 * @param picked only these addresses ('ip:port'); empty: all
 */
export function linesOf(reply: { proxy_lines?: unknown } | null | undefined, picked: readonly string[] = []): string[] {
  const all = reply?.proxy_lines
  if (!Array.isArray(all)) throw new Error(t('export.malformed'))
  const wanted = new Set(picked)
  const lines = all.map(String).filter(line => {
    if (wanted.size === 0) return true
    const proxy = proxyOfLine(line)
    return proxy !== null && wanted.has(hostPort(proxy.ip, proxy.port))
  })
  if (lines.length === 0) throw new Error(t('proxy.none'))
  return lines
}

/** Maps each line of a reply to the host name under which its proxy speaks TLS. */
export const hostsOf = (reply: Partial<ProxyLines> | null | undefined): ReadonlyMap<string, string> =>
  new Map(
    (reply?.https_hosts ?? []).flatMap((host, at) => {
      const line = reply?.proxy_lines?.[at]
      return host === null || line === undefined ? [] : [[line, host] as const]
    })
  )

/**
 * The lines in the chosen format. @throws with a message to show if a line is malformed or none fits the format
 * @param hosts the TLS host name of each line's proxy
 */
export function textOf(lines: string[], choice: FormatChoice, hosts: ReadonlyMap<string, string> = new Map()): string {
  if (choice.format === 'line') return lines.join('\n')
  const proxies = lines.map(line => {
    const proxy = proxyOfLine(line)
    if (!proxy) throw new Error(t('export.malformed'))
    const host = hosts.get(line)
    return host === undefined ? proxy : { ...proxy, https: { host, leads: true } }
  })
  const text = formatProxies(proxies, choice)
  if (text === '') throw new Error(t('export.noHttps'))
  return text
}

/** A safe file name, whatever the server sent. */
export const fileName = (name: string | null | undefined, orderId: number) =>
  name?.replaceAll(/[^\w.\-() ]/g, '_') || `order_${orderId}_proxies.txt`

function download(name: string, text: string, type = 'text/plain'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
