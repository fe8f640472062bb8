import type { Order, Proxy } from '@netlet/contract'
import { Button, CloseButton } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCopy, IconDownload, IconLoader2 } from '@tabler/icons-react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { numberText } from '../../kit/money.ts'
import { hasProxies, orderFailure } from '../../kit/order-obstacles.ts'
import classes from './panel.module.css'
import { snippetOf } from './formats.ts'
import type { TakeOut } from './use-copy-and-export.ts'

type Props = { order: Order; first: Proxy | undefined; takeOut: TakeOut; onDismiss: () => void }

/** The result of the payment just made: the progress of the delivery, then that the proxies work. */
export function LivePanel({ order, first, takeOut, onDismiss }: Props) {
  const t = useT()
  const tAccount = useAccountT()
  const { delivery_num: done, proxy_num: total } = order
  const failure = orderFailure(tAccount, order)
  const isLive = order.state === 'delivered'
  const tone = isLive ? 'good' : failure ? 'bad' : 'busy'
  const Icon = { good: IconCircleCheck, bad: IconAlertTriangle, busy: IconLoader2 }[tone]
  const words = { protocol: '', server: '', port: '', username: '', password: '' }
  return (
    <section
      className={`card row unwrapped start panel ${classes.live}`}
      style={{ gap: '0.9rem' }}
      data-tone={tone}
      aria-labelledby="live-title"
    >
      <Icon size={24} aria-hidden className={classes.liveIcon} />
      <div className="stack shrinks" style={{ gap: '0.75rem', flex: 1 }}>
        <div role="status">
          <h3 id="live-title">
            {isLive ? t('live.title', { count: numberText(done) }) : t(failure ? 'live.trouble' : 'live.coming')}
          </h3>
          {!isLive && (
            <>
              <p className={`row unwrapped num ${classes.progress}`}>
                <progress value={done} max={total} aria-hidden />
                {t('live.progress', { done: numberText(done), total: numberText(total) })}
              </p>
              {failure ? (
                <p>
                  {failure}. {t('proxy.failedHint')}
                </p>
              ) : (
                <p className="dim">{t(order.task_waits ? 'live.waits' : 'live.continues')}</p>
              )}
            </>
          )}
        </div>
        {hasProxies(order) && (
          <div className={`row stretch ${classes.liveActions}`} style={{ gap: '0.5rem' }}>
            <Button
              size="sm"
              variant="default"
              leftSection={<IconCopy size={16} aria-hidden />}
              loading={takeOut.copy.isPending}
              onClick={() => takeOut.copy.mutate(undefined)}
            >
              {t('proxy.copy')}
            </Button>
            <Button
              size="sm"
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
              loading={takeOut.save.isPending}
              onClick={() => takeOut.save.mutate(undefined)}
            >
              {t('proxy.export')}
            </Button>
          </div>
        )}
        {isLive && first && (
          <div>
            <p className="dim">{t('live.hint')}</p>
            <p className="row" style={{ gap: '0.5rem' }}>
              <code className="breaks shrinks">{snippetOf('curl', first, words, { masked: true })}</code>
              <CopyButton
                text={snippetOf('curl', first, words)}
                name={t('live.command')}
                done={t('copied')}
                failed={t('copyFailed')}
              />
            </p>
          </div>
        )}
      </div>
      <CloseButton aria-label={t('live.dismiss')} onClick={onDismiss} />
    </section>
  )
}
