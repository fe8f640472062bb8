import { Button, Checkbox, Skeleton, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { WebhookEndpoint } from '@netlet/contract'
import { MAX_ENDPOINTS } from '@netlet/contract/webhook-events'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { keyOf, refresh } from '../../api/query.ts'
import { webhooks } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../confirm.ts'
import { Dialog } from '../dialog.tsx'
import { useFormDraft } from '../draft.ts'
import { useFocusAfterReplace } from '../focus-return.ts'
import { useFormFailure } from '../form-failure.tsx'
import { rules } from '../form.ts'
import { useLeaveGuard } from '../leave-guard.ts'
import { type Clash, merge } from '../merge.ts'
import { notify } from '../notify.ts'
import { OperatorWebhookForm, WebhookForm } from '../schemas.ts'
import { ShownOnce } from '../shown-once.tsx'
import { ErrorState } from '../states.tsx'
import { Ago } from '../time.tsx'
import { UnavailableHint } from '../unavailable-hint.tsx'
import { useIsShown } from '../use-is-shown.ts'
import { type EndpointCalls, type EndpointValues, ownEndpoints } from './calls.ts'
import { EndpointState } from './delivery.tsx'
import classes from './webhooks.module.css'
import '../styles/forms.ts'
import '../styles/overlays.ts'

type Props = {
  calls: EndpointCalls
  onLog: (endpoint: WebhookEndpoint) => void
  /** May the signed-in user change them? */
  canChange?: boolean
}
/** `of`: the endpoint whose secret was replaced; null for a new endpoint. */
type Made = { secret: string; of: number | null }

/** The query for one owner's endpoints, shared by all parts of a page. */
export const useEndpoints = (calls: EndpointCalls) =>
  useQuery({ queryKey: [...keyOf(calls.list), 'endpoints'], queryFn: ({ signal }) => calls.readAll(signal) })

/** One owner's endpoints: add, edit, test, show a secret once, open the log. */
export function Endpoints({ calls, onLog, canChange = true }: Props) {
  const t = useT()
  const [form, setForm] = useState<{ endpoint?: WebhookEndpoint } | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  const add = useFocusAfterReplace(made?.of === null)
  const { data, isPending, error, refetch } = useEndpoints(calls)
  const most = calls === ownEndpoints ? MAX_ENDPOINTS.customer : MAX_ENDPOINTS.operators
  const isFull = (data?.length ?? 0) >= most
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className="stack">
      {made && (
        <ShownOnce
          words={t(made.of === null ? 'hooks.once' : 'hooks.onceAgain')}
          text={made.secret}
          name={t('hooks.secret')}
          onDone={() => setMade(null)}
        />
      )}
      {isPending ? (
        <Skeleton height={52} />
      ) : data?.length ? (
        <ul className={classes.list} aria-label={t('hooks.list')}>
          {data.map(endpoint => (
            <Endpoint
              key={endpoint.id}
              calls={calls}
              endpoint={endpoint}
              canChange={canChange}
              onEdit={() => setForm({ endpoint })}
              onLog={() => onLog(endpoint)}
              onSecret={secret => setMade({ secret, of: endpoint.id })}
              showsSecret={made?.of === endpoint.id}
            />
          ))}
        </ul>
      ) : (
        <p className="dim">{t('hooks.none')}</p>
      )}
      {canChange && (
        <div className="row">
          <Button
            ref={add}
            leftSection={<IconPlus size={16} aria-hidden />}
            disabled={isFull}
            onClick={() => setForm({})}
          >
            {t('hooks.add')}
          </Button>
          {isFull && <span className="dim">{t('hooks.full', { max: most })}</span>}
        </div>
      )}
      {form && (
        <EndpointForm
          key={form.endpoint?.id ?? 'new'}
          calls={calls}
          {...form}
          onClose={() => setForm(null)}
          onMade={secret => setMade({ secret, of: null })}
        />
      )}
    </div>
  )
}

type EndpointProps = {
  calls: EndpointCalls
  endpoint: WebhookEndpoint
  canChange: boolean
  onEdit: () => void
  onLog: () => void
  onSecret: (secret: string) => void
  /** Its new secret is shown. */
  showsSecret: boolean
}

function Endpoint({ calls, endpoint, canChange, onEdit, onLog, onSecret, showsSecret }: EndpointProps) {
  const t = useT()
  const { id, url, description, events, last_sent_at: sent, former_secret_until: former } = endpoint
  const rotation = useFocusAfterReplace(showsSecret)
  const failed = (error: unknown) => notify('bad', failureText(error))
  const reread = () => refresh(calls.list, webhooks.deliveries, webhooks.allDeliveries)
  const remove = useMutation({ mutationFn: () => calls.remove(id), onError: failed, onSettled: reread })
  const rotate = useMutation({
    mutationFn: () => calls.rotate(id),
    onSuccess: ({ secret }) => onSecret(secret),
    onError: failed,
    onSettled: reread
  })
  const test = useMutation({
    mutationFn: () => calls.test(id),
    onSuccess: () => {
      notify('good', t('hooks.tested'))
      onLog()
    },
    onError: failed,
    onSettled: reread
  })
  const askRemove = async () => {
    if (await confirm({ title: t('hooks.removeTitle'), body: t('hooks.removeBody', { url }), danger: true }))
      remove.mutate()
  }
  const askRotate = async () => {
    if (await confirm({ title: t('hooks.rotateTitle'), body: t('hooks.rotateBody') })) rotate.mutate()
  }
  const named = (words: string) => `${words}: ${description || url}`
  return (
    <li>
      <div className="stack breaks shrinks size-body" style={{ gap: '0.2rem' }}>
        {description && <strong>{description}</strong>}
        <span className="mono">{url}</span>
        <EndpointState endpoint={endpoint} />
        <span className="dim">{events.map(event => t(`hooks.event.${event}`)).join(', ')}</span>
        <span className="dim">
          {t('hooks.lastSent')} {sent ? <Ago at={sent} /> : t('keys.never')}
          {former && (
            <>
              {' · '}
              {t('hooks.formerUntil')} <Ago at={former} />
            </>
          )}
        </span>
      </div>
      <div className="row stretch" style={{ gap: '0.5rem' }}>
        <Button size="xs" variant="default" aria-label={named(t('hooks.log'))} onClick={onLog}>
          {t('hooks.log')}
        </Button>
        {canChange && (
          <>
            <UnavailableHint why={endpoint.enabled ? undefined : t('hooks.testOff')}>
              <Button
                size="xs"
                variant="default"
                aria-label={named(t('hooks.test'))}
                loading={test.isPending}
                onClick={() => test.mutate()}
              >
                {t('hooks.test')}
              </Button>
            </UnavailableHint>
            <Button size="xs" variant="default" aria-label={named(t('hooks.editShort'))} onClick={onEdit}>
              {t('hooks.editShort')}
            </Button>
            <Button
              ref={rotation}
              size="xs"
              variant="default"
              aria-label={named(t('hooks.rotate'))}
              loading={rotate.isPending}
              onClick={() => void askRotate()}
            >
              {t('hooks.rotate')}
            </Button>
            <Button
              size="xs"
              variant="default"
              color="red"
              aria-label={named(t('hooks.remove'))}
              loading={remove.isPending}
              onClick={() => void askRemove()}
            >
              {t('hooks.remove')}
            </Button>
          </>
        )}
      </div>
    </li>
  )
}

type EndpointFormProps = {
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

function EndpointForm({ calls, endpoint, onClose, onMade }: EndpointFormProps) {
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
          placeholder="https://hooks.example.com/orders"
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
