import type { WebhookEndpoint } from '@netlet/contract'
import { Button, Checkbox, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { Dialog } from '../dialog.tsx'
import { useFormFailure } from '../form-failure.tsx'
import { rules } from '../form.ts'
import { notify } from '../notify.ts'
import { OperatorWebhookForm, WebhookForm } from '../schemas.ts'
import { ownEndpoints, type EndpointCalls, type EndpointValues } from './calls.ts'
import classes from './webhooks.module.css'

type Props = {
  calls: EndpointCalls
  /** The one that is edited; without it one is added. */
  endpoint?: WebhookEndpoint
  onClose: () => void
  /** Gets the secret of one that was added. */
  onMade: (secret: string) => void
}

/** An endpoint as a form: where events go, and which ones. */
export function EndpointForm({ calls, endpoint, onClose, onMade }: Props) {
  const t = useT()
  const form = useForm<EndpointValues>({
    name: 'endpoint',
    initialValues: {
      url: endpoint?.url ?? '',
      description: endpoint?.description ?? '',
      events: endpoint?.events ?? [...calls.events],
      enabled: endpoint?.enabled ?? true
    },
    validate: rules(calls === ownEndpoints ? WebhookForm : OperatorWebhookForm)
  })
  const failure = useFormFailure(form)
  const save = useMutation({
    mutationFn: async (values: EndpointValues) =>
      endpoint ? calls.update(endpoint.id, { ...values, version: endpoint.version }) : calls.create(values),
    onSuccess: saved => {
      void refresh(calls.list)
      if ('secret' in saved && typeof saved.secret === 'string') onMade(saved.secret)
      else notify('good', t('hooks.saved'))
      onClose()
    },
    onError: error => {
      if (error instanceof ApiError && error.refusal.reason === 'stale') void refresh(calls.list)
      failure.refused(error)
    }
  })
  return (
    <Dialog onClose={onClose} title={t(endpoint ? 'hooks.edit' : 'hooks.add')}>
      <form
        className="stack"
        noValidate
        onChange={failure.onChange}
        onSubmit={form.onSubmit(
          values => save.mutate(values),
          errors => failure.invalid(errors)
        )}
      >
        <TextInput
          label={t('hooks.url')}
          description={t('hooks.urlHint')}
          placeholder="https://hooks.example.com/netlet"
          type="url"
          spellCheck={false}
          maxLength={1000}
          {...form.getInputProps('url')}
        />
        <TextInput label={t('hooks.description')} maxLength={100} {...form.getInputProps('description')} />
        <Checkbox.Group label={t('hooks.events')} {...form.getInputProps('events')}>
          <div className={classes.events}>
            {calls.events.map(event => (
              <Checkbox key={event} value={event} label={t(`hooks.event.${event}`)} description={event} />
            ))}
          </div>
        </Checkbox.Group>
        {endpoint && <Switch label={t('hooks.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />}
        {failure.alert}
        <div className="row">
          <Button type="submit" loading={save.isPending}>
            {t('hooks.save')}
          </Button>
          <Button variant="default" onClick={onClose}>
            {t('settings.cancel')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
