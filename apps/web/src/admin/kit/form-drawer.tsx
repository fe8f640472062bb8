import { Button, Drawer } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, call, type Endpoint } from '../../api/client.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { rules } from '../../kit/form.ts'
import { guardLeaving } from '../../kit/leaving.ts'
import classes from './kit.module.css'
import type { Field, FormSchema, Question } from './resource.ts'

export type FormTask = {
  /** Names this form while it is open: a change of it is another form. */
  id: string
  title: string
  schema: FormSchema
  fields: readonly Field[]
  /** The call, and the row that it changes; none where one is added. */
  route: Endpoint
  row: ({ id: number } & Record<string, unknown>) | undefined
  submit: string
  /** It takes something away. */
  danger?: boolean | undefined
  /** What is asked before it is sent. */
  question?: Question | undefined
}

type Props = {
  /** The form that the address asks for; null: none. */
  task: FormTask | null
  labelOf: (name: string) => string
  onClose: () => void
  /** Brings back the address of a form that the browser's own buttons left. */
  onReturn: (id: string) => void
  onSaved: () => void
}

/** A form beside the list. It is not left with changes in it before that was asked. */
export function FormDrawer({ task, labelOf, onClose, onReturn, onSaved }: Props) {
  const t = useT()
  // Stays as it was while it fades out, and while its changes are asked about.
  const [shown, setShown] = useState(task)
  const [asking, setAsking] = useState(false)
  const dirty = useRef(false)
  // Always the same function: only a change of the form itself may mark it, not one of what is around it.
  const mark = useCallback((isDirty: boolean) => {
    dirty.current = isDirty
  }, [])
  const last = useRef(shown)
  if (shown) last.current = shown
  const content = shown ?? last.current
  useEffect(() => {
    if (task?.id === shown?.id) return
    if (!shown || task || !dirty.current) {
      dirty.current = false
      setShown(task)
      return
    }
    // Left by the browser's back button.
    onReturn(shown.id)
    void leave()
    // oxlint-disable-next-line react/exhaustive-deps -- only a change of the address is what counts
  }, [task?.id])
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (dirty.current) event.preventDefault()
    }
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [])

  const mayDiscard = async () => {
    if (!dirty.current) return true
    if (asking) return false
    setAsking(true)
    const yes = await confirm({ title: t('form.discardTitle'), body: t('form.discardBody'), danger: true })
    setAsking(false)
    if (yes) dirty.current = false
    return yes
  }
  const leave = async () => {
    if (await mayDiscard()) onClose()
  }
  useEffect(() => guardLeaving(mayDiscard))
  return (
    <Drawer
      opened={Boolean(task) || dirty.current}
      onClose={() => void leave()}
      closeOnEscape={!asking}
      title={content?.title}
      position="right"
      size="md"
      // Above the dashboard's full view, below questions.
      zIndex={250}
      classNames={{ title: classes.drawerTitle }}
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ 'aria-label': t('list.close') }}
    >
      {content && (
        <TaskForm
          key={content.id}
          task={content}
          labelOf={labelOf}
          onDirty={mark}
          onCancel={() => void leave()}
          onSaved={() => {
            dirty.current = false
            onSaved()
            onClose()
          }}
        />
      )}
    </Drawer>
  )
}

type Difference = { name: string; was: string; is: string }
type TaskFormProps = Pick<Props, 'labelOf' | 'onSaved'> & {
  task: FormTask
  onDirty: (dirty: boolean) => void
  onCancel: () => void
}

const shownOf = ({ name, shown }: Field, row: Record<string, unknown> | undefined): string => {
  const value = row?.[name]
  if (shown) return shown(value)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function TaskForm({ task, labelOf, onDirty, onCancel, onSaved }: TaskFormProps) {
  const t = useT()
  const { fields, schema, row, route } = task
  const valuesOf = (row: Record<string, unknown> | undefined) =>
    Object.fromEntries(fields.map(field => [field.name, shownOf(field, row)]))
  const [failure, setFailure] = useState('')
  const [stale, setStale] = useState<Difference[]>([])
  const [saving, setSaving] = useState(false)
  const base = useRef(row)
  const check = rules(schema as never)
  const sentOf = (values: Record<string, string>) =>
    Object.fromEntries(fields.map(({ name, sent }) => [name, sent ? sent(values[name] ?? '') : values[name]]))
  const form = useForm<Record<string, string>>({
    mode: 'controlled',
    initialValues: valuesOf(row),
    validate: values => check(sentOf(values))
  })
  const dirty = form.isDirty()
  useEffect(() => onDirty(dirty), [dirty, onDirty])

  const alert = useRef<HTMLDivElement>(null)
  // The button that was pressed could not keep the focus while the call was out.
  useEffect(() => {
    if (failure) alert.current?.focus()
  }, [failure])
  const focusFirst = (errors: object) => {
    const first = fields.find(({ name }) => name in errors)
    if (first) form.getInputNode(first.name)?.focus()
  }
  /** What somebody else changed since this form was opened. */
  const compare = (current: Record<string, unknown>) => {
    const before = valuesOf(base.current)
    const after = valuesOf(current)
    base.current = current as typeof row
    return fields
      .map(({ name }) => ({ name, was: before[name] ?? '', is: after[name] ?? '' }))
      .filter(({ was, is }) => was !== is)
  }
  const save = async (values: Record<string, string>) => {
    if (task.question && !(await confirm(task.question))) return
    setSaving(true)
    setFailure('')
    setStale([])
    try {
      const version = base.current?.['version']
      const body = { ...sentOf(values), ...(version === undefined ? {} : { version }) }
      const input = { body, ...(row ? { params: { id: row.id } } : {}) }
      await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, input)
      onSaved()
    } catch (error) {
      const found = fieldTexts(error)
      const own = Object.fromEntries(Object.entries(found).filter(([name]) => fields.some(one => one.name === name)))
      form.setErrors(own)
      // What names no field of this form is said above it.
      if (Object.keys(own).length === 0) setFailure(failureText(error))
      else focusFirst(own)
      if (error instanceof ApiError && error.refusal.current) setStale(compare(error.refusal.current))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form
      className="stack"
      noValidate
      onSubmit={form.onSubmit(
        values => void save(values),
        errors => focusFirst(errors)
      )}
    >
      {failure && (
        <div ref={alert} role="alert" tabIndex={-1} className={classes.alert}>
          <p>{failure}</p>
          {stale.length > 0 && (
            <>
              <p>{t('form.stale')}</p>
              <ul>
                {stale.map(({ name, was, is }) => (
                  <li key={name}>{t('form.staleField', { field: labelOf(name), was: was || '–', is: is || '–' })}</li>
                ))}
              </ul>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  form.setInitialValues(valuesOf(base.current))
                  form.setValues(valuesOf(base.current))
                  setStale([])
                  setFailure('')
                }}
              >
                {t('form.takeTheirs')}
              </Button>
            </>
          )}
        </div>
      )}
      {fields.map(({ name, Input, optional, placeholder, help }, index) => (
        <Input
          key={form.key(name)}
          label={labelOf(name)}
          withAsterisk={!optional}
          {...(placeholder ? { placeholder: placeholder(t, row ?? {}) } : {})}
          {...(help ? { description: help(t) } : {})}
          {...(index === 0 ? { 'data-autofocus': true } : {})}
          {...form.getInputProps(name)}
        />
      ))}
      <div className={classes.drawerFoot}>
        <Button variant="default" onClick={onCancel}>
          {t('form.cancel')}
        </Button>
        <Button type="submit" loading={saving} {...(task.danger ? { color: 'red.9' } : {})}>
          {task.submit}
        </Button>
      </div>
    </form>
  )
}
