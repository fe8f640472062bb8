import { Checkbox } from '@mantine/core'
import type { MailChoices } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { queryClient, read } from '../../api/query.ts'
import { mail } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { ErrorState } from '../../kit/states.tsx'

const KINDS = ['payments', 'proxies', 'expiry'] as const satisfies (keyof MailChoices)[]

const choicesOf = ({ payments, proxies, expiry }: MailChoices): MailChoices => ({ payments, proxies, expiry })

/** A customer's mail settings. Each change is saved at once. */
export function Mails() {
  const t = useT()
  const choices = read(mail.choices)
  const { data, error, refetch } = useQuery(choices)
  const save = useMutation({
    mutationFn: (body: MailChoices) => call(mail.saveChoices, { body }),
    onSuccess: saved => {
      queryClient.setQueryData(choices.queryKey, before => before && { ...before, ...saved })
      notify('good', t('mails.saved'))
    },
    onError: failure => notify('bad', failureText(failure, t('mails.failed')))
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <>
      {data?.blocked && <p role="alert">{t(`mails.blocked.${data.blocked}`)}</p>}
      <p className="dim">{t('mails.hint')}</p>
      {KINDS.map(kind => (
        <Checkbox
          key={kind}
          label={t(`mails.${kind}`)}
          checked={data?.[kind] ?? true}
          disabled={!data || save.isPending}
          onChange={event => data && save.mutate({ ...choicesOf(data), [kind]: event.currentTarget.checked })}
        />
      ))}
    </>
  )
}
