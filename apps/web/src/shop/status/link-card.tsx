import { Button } from '@mantine/core'
import { call } from '../../api/client.ts'
import { status } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/status.ts'
import classes from './status.module.css'

type Props = { what: 'confirm' | 'end'; token: string }

/** The target of links in mails. It asks first, because mail scanners open every link. */
export function LinkCard({ what, token }: Props) {
  const t = useT()
  const act = useMutation({
    mutationFn: () =>
      what === 'confirm' ? call(status.confirm, { body: { token } }) : call(status.unsubscribe, { query: { token } })
  })
  return (
    <section className={`card ${classes.box}`} aria-labelledby={`link-${what}`}>
      <h2 id={`link-${what}`}>{t(what === 'confirm' ? 'confirmTitle' : 'endTitle')}</h2>
      {act.isSuccess ? (
        <p role="status">{t(what === 'confirm' ? 'confirmed' : 'endDone')}</p>
      ) : (
        <>
          <p>{t(what === 'confirm' ? 'confirmAsk' : 'endAsk')}</p>
          {act.error && <p role="alert">{failureText(act.error, t('failed'))}</p>}
          <div>
            <Button loading={act.isPending} onClick={() => act.mutate()}>
              {t(what === 'confirm' ? 'confirmButton' : 'endButton')}
            </Button>
          </div>
        </>
      )}
    </section>
  )
}
