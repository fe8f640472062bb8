import { Button } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { mail } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/index.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'

/** The target of a mail's unsubscribe link. It asks first, because mail scanners open every link. */
export default function UnsubscribePage() {
  const t = useT()
  const [query] = useSearchParams()
  useTitle(t('unsubscribe.title'))
  const token = query.get('token') ?? ''
  const unsubscribe = useMutation({ mutationFn: () => call(mail.unsubscribe, { query: { token } }) })
  return (
    <AuthCard title={t('unsubscribe.title')}>
      {unsubscribe.isSuccess ? (
        <p role="status">{t('unsubscribe.done')}</p>
      ) : (
        <div className="stack">
          <p>{t('unsubscribe.ask')}</p>
          {unsubscribe.error && <p role="alert">{failureText(unsubscribe.error, t('unsubscribe.failed'))}</p>}
          <Button loading={unsubscribe.isPending} onClick={() => unsubscribe.mutate()}>
            {t('unsubscribe.confirm')}
          </Button>
        </div>
      )}
    </AuthCard>
  )
}
