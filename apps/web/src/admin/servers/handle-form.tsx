import { Button, NativeSelect, TextInput, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Server } from '@netlet/contract'
import { useEffect, useState } from 'react'
import { type Endpoint, call } from '../../api/client.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { rules } from '../../kit/form.ts'
import { Moment } from '../../kit/time.tsx'
import { WorkButton } from '../kit/index.ts'
import { type Handle, type HandleField, type HandleName, type Values, handles, linesOf } from './handles.ts'
import { useRuleGroups } from './state.ts'
import classes from './servers.module.css'

type Props = {
  server: Server
  name: HandleName
  onName: (name: HandleName) => void
  username: string
  onUsername: (username: string) => void
  /** The number of users the agent has; null if not read. */
  users: number | null
  /** Whether something was typed but not run. */
  onDirty: (dirty: boolean) => void
  onOutput: (output: Output) => void
  onChanged: () => void
}

const empty: Values = { username: '', prefix: '', acl_group: '', cidrs: '', uri: '', json_input: '', target: '' }

/** The form of one manual action on the agent. */
export function HandleForm(props: Props) {
  const { server, name, onName, username, onUsername, users, onDirty, onOutput, onChanged } = props
  const t = useT()
  const ruleGroups = useRuleGroups()
  const [running, setRunning] = useState(false)
  const handle = handles.find(one => one.name === name) as Handle
  // Typed since the last run. A username picked from the list is not a change worth keeping.
  const [typed, setTyped] = useState(false)
  const form = useForm<Values>({ mode: 'controlled', initialValues: empty, onValuesChange: () => setTyped(true) })
  const entered = { ...form.values, username }
  const dirty = typed && Object.values(entered).some(value => value !== '')
  useEffect(() => onDirty(dirty), [dirty, onDirty])
  useEffect(() => form.clearErrors(), [name]) // oxlint-disable-line react/exhaustive-deps -- another handle has other fields

  const send = async () => {
    const values = entered
    const body = Object.fromEntries(handle.fields.map(field => [field, sentOf(field, values[field])]))
    const wrong = handle.schema ? rules(handle.schema as never)(body) : {}
    form.setErrors(wrong)
    const first = handle.fields.find(field => field in wrong)
    if (first) return form.getInputNode(first)?.focus()
    const ranges = server.cidrs.map(({ cidr }) => cidr)
    const question = handle.confirm?.(t, values, { name: server.name, users, ranges })
    if (question && !(await confirm(question))) return
    setRunning(true)
    // What is typed during the call has not been run.
    setTyped(false)
    const show = (failed: boolean, text: string) => onOutput({ handle: name, at: new Date(), failed, text })
    try {
      const input = { params: { id: server.id }, ...(handle.route.method === 'GET' ? {} : { body }) }
      const reply = await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(handle.route, input)
      show(false, handle.say ? `${handle.say(t, reply)}\n\n${textOf(reply)}` : textOf(reply))
      if (handle.changes || name === 'get_server_info') onChanged()
    } catch (error) {
      setTyped(true)
      form.setErrors(fieldTexts(error))
      show(true, failureText(error))
    } finally {
      setRunning(false)
    }
  }
  const labels = (field: HandleField) => ({ label: t(`manage.${field}`), ...form.getInputProps(field) })
  const inputs: Record<HandleField, React.ReactNode> = {
    username: (
      <TextInput
        key="username"
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        {...labels('username')}
        // The screen keeps it, because the list of users can set it.
        value={username}
        onChange={event => {
          form.clearFieldError('username')
          setTyped(true)
          onUsername(event.currentTarget.value)
        }}
      />
    ),
    prefix: (
      <TextInput
        key="prefix"
        withAsterisk
        spellCheck={false}
        placeholder={server.cidrs[0]?.cidr ?? '192.0.2.0/29'}
        {...labels('prefix')}
      />
    ),
    acl_group: (
      <NativeSelect
        key="acl_group"
        withAsterisk
        data={[{ value: '', label: '–' }, ...ruleGroups]}
        {...labels('acl_group')}
      />
    ),
    cidrs: (
      <Textarea
        key="cidrs"
        rows={5}
        resize="vertical"
        spellCheck={false}
        classNames={{ input: 'mono' }}
        description={t('manage.cidrsHelp')}
        {...labels('cidrs')}
      />
    ),
    target: (
      <TextInput
        key="target"
        autoComplete="off"
        spellCheck={false}
        placeholder="[2001:db8::1]:443"
        description={t('manage.targetHelp')}
        {...labels('target')}
      />
    ),
    uri: <TextInput key="uri" withAsterisk spellCheck={false} placeholder="/api/view-user" {...labels('uri')} />,
    json_input: (
      <Textarea
        key="json_input"
        withAsterisk
        rows={5}
        resize="vertical"
        spellCheck={false}
        classNames={{ input: 'mono' }}
        placeholder='{"user": "name"}'
        {...labels('json_input')}
      />
    )
  }
  return (
    <form
      className="stack"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      <NativeSelect
        label={t('manage.handle')}
        description={t(`manage.does.${name}`)}
        value={name}
        data={handles.map(one => ({ value: one.name, label: one.name }))}
        onChange={event => onName(event.currentTarget.value as HandleName)}
      />
      {handle.fields.map(field => inputs[field])}
      {name === 'reset_all_proxy' && (
        <div>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => form.setFieldValue('cidrs', server.cidrs.map(({ cidr }) => cidr).join('\n'))}
          >
            {t('manage.allRanges')}
          </Button>
        </div>
      )}
      <div>
        <WorkButton type="submit" working={running} {...(handle.danger ? { color: 'red.9' } : {})}>
          {t('manage.run')}
        </WorkButton>
      </div>
    </form>
  )
}

function sentOf(field: HandleField, value: string): unknown {
  if (field === 'cidrs') return linesOf(value)
  return field === 'acl_group' && value !== '' ? Number(value) : value
}

/** The agent's answer, with formatted JSON. */
function textOf(reply: unknown): string {
  const { output } = (reply ?? {}) as { output?: unknown }
  const shown = output === undefined ? reply : output
  return typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2)
}

/** An answer from the agent, or from the shop on its behalf. */
export type Output = { handle: HandleName; at: Date; failed: boolean; text: string }

/** The raw response of the last handle. */
export function OutputPanel({ output, onClear }: { output: Output | null; onClear: () => void }) {
  const t = useT()
  return (
    <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('manage.output')}>
      <div className="row" style={{ gap: '0.5rem 1rem' }}>
        <h3 className="size-body">{t('manage.output')}</h3>
        {output && (
          <span className="row inline" style={{ gap: '0.5rem 1rem' }}>
            <CopyButton text={output.text} variant="default" size="compact-sm" />
            <Button size="compact-sm" variant="default" onClick={onClear}>
              {t('manage.clear')}
            </Button>
          </span>
        )}
      </div>
      <div role="status">
        {output ? (
          <>
            <p className={output.failed ? classes.trouble : 'dim size-table'}>
              <span className="mono">{output.handle}</span> · <Moment at={output.at.toISOString()} />
            </p>
            <pre className={classes.output} tabIndex={0}>
              {output.text}
            </pre>
          </>
        ) : (
          <p className="dim">{t('manage.noOutput')}</p>
        )}
      </div>
    </section>
  )
}
