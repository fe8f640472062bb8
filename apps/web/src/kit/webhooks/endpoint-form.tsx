import type { WebhookEndpoint } from '@netlet/contract'
import { Button, Checkbox, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { Dialog } from '../dialog.tsx'
import { useFormDraft } from '../draft.ts'
import { useFormFailure } from '../form-failure.tsx'
import { rules } from '../form.ts'
import { useLeaveGuard } from '../leave-guard.ts'
import { merge, type Clash } from '../merge.ts'
import { notify } from '../notify.ts'
import { OperatorWebhookForm, WebhookForm } from '../schemas.ts'
import { useIsShown } from '../use-is-shown.ts'
import { ownEndpoints, type EndpointCalls, type EndpointValues } from './calls.ts'
import classes from './webhooks.module.css'

type Props = {
  calls: EndpointCalls
  /** The endpoint to edit; without it the form adds one. */
  endpoint?: WebhookEndpoint
  onClose: () => void
  /** Called with the secret of a new endpoint. */
  onMade: (secret: string) => void
}

const valuesOf = ({ url, description, events, enabled }: WebhookEndpoint): EndpointValues => ({
  url,
  description,
  events,
  enabled
})

export function EndpointForm({ calls, endpoint, onClose, onMade }: Props) {
  const t = useT()
  const form = useForm<EndpointValues>({
    name: 'endpoint',
    initialValues: endpoint
      ? valuesOf(endpoint)
      : { url: '', description: '', events: [...calls.events], enabled: true },
    validate: rules(calls === ownEndpoints ? WebhookForm : OperatorWebhookForm)
  })
  const [version, setVersion] = useState(endpoint?.version ?? 'new')
  const isChanged = form.isDirty()
  const failure = useFormFailure(form)
  const isShown = useIsShown()
  /** Merges what another user saved with what is entered here, so that the next save can succeed. */
  const mergeSaved = (current: WebhookEndpoint) => {
    const theirs = valuesOf(current)
    const merged = merge(form.getInitialValues(), form.getValues(), theirs)
    form.setInitialValues(theirs)
    form.setValues(merged.values)
    setVersion(current.version)
    return merged.clashes
  }
  const clashText = ({ path: [name], theirs }: Clash) =>
    t('form.clash', {
      field: t(`hooks.${name as keyof EndpointValues}`),
      theirs: Array.isArray(theirs)
        ? theirs.map(event => t(`hooks.event.${event as EndpointValues['events'][number]}`)).join(', ')
        : typeof theirs === 'boolean'
          ? t(theirs ? 'form.on' : 'form.off')
          : String(theirs) || '–'
    })
  const save = useMutation({
    mutationFn: async (values: EndpointValues) =>
      endpoint ? calls.update(endpoint.id, { ...values, version }) : calls.create(values),
    onSuccess: saved => {
      draft.forget()
      void refresh(calls.list)
      if ('secret' in saved && typeof saved.secret === 'string') onMade(saved.secret)
      else notify('good', t('hooks.saved'))
      // If another form has been opened since, leave it open.
      if (isShown()) onClose()
    },
    onError: error => {
      const stale = error instanceof ApiError && error.refusal.reason === 'stale'
      if (stale) void refresh(calls.list)
      // The form was closed while the call was in flight.
      if (!isShown()) return notify('bad', failureText(error))
      const clashes = stale && error.refusal.current ? mergeSaved(error.refusal.current as WebhookEndpoint) : []
      if (clashes.length === 0) failure.refused(error)
      else failure.invalid({}, () => [failureText(error), ...clashes.map(clashText)].join(' '))
    }
  })
  // Changes in flight need no discard question.
  const guard = useLeaveGuard(isChanged && !save.isPending, { keepsDraft: true, onRelease: onClose })
  const owner = calls === ownEndpoints ? 'own' : 'operators'
  const draft = useFormDraft(`endpoint-${owner}-${endpoint?.id ?? 0}`, form, {
    version,
    isUnsaved: () => save.isPending || guard.isUnsaved()
  })
  const leave = async () => {
    if (await guard.mayLeave()) onClose()
  }
  return (
    <Dialog onClose={() => void leave()} title={t(endpoint ? 'hooks.edit' : 'hooks.add')}>
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
          <Button variant="default" onClick={() => void leave()}>
            {t('settings.cancel')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
