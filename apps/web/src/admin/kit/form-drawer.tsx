import { Button, Drawer, UnstyledButton } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type ComponentType, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { ApiError, call, type Endpoint } from '../../api/client.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { rules } from '../../kit/form.ts'
import { type Clash, merge, type Path, type Taken } from '../../kit/merge.ts'
import { notify } from '../../kit/notify.ts'
import { FormAlert } from './changed-meanwhile.tsx'
import classes from './kit.module.css'
import { useOpenForm } from './use-merging-form.ts'
import type { Asking, Field, FormSchema, PlanProps } from './resource.ts'
import type { Undo } from './undo.ts'
import { WorkButton } from './words.tsx'
import { IconChevronDown } from '@tabler/icons-react'

/** What a form reads from a row and sends back. */
type Row = Record<string, unknown>

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null

/** The key of a form's input. It has no dots, which the form would treat as a path. */
const keyOf = ({ name, translates }: Field): string =>
  translates ? [name, translates.language, translates.text].join('/') : name

function valueIn({ name, translates }: Field, row: Row | undefined): unknown {
  const value = row?.[name]
  if (!translates) return value
  const texts = isObject(value) ? value[translates.language] : undefined
  return isObject(texts) ? texts[translates.text] : undefined
}

function shownOf(field: Field, row: Row | undefined): string {
  const value = valueIn(field, row)
  if (field.shown) return field.shown(value, row ?? {})
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The body of what is entered. Translations are grouped by language. */
function bodyOf(fields: readonly Field[], values: Record<string, string>, row: Row): Row {
  const body: Row = {}
  const translations: Record<string, Record<string, string | undefined>> = {}
  for (const field of fields) {
    const value = values[keyOf(field)]
    const { name, sent, translates } = field
    if (translates)
      translations[translates.language] = { ...translations[translates.language], [translates.text]: value }
    else body[name] = sent ? sent(value ?? '', row) : value
  }
  return Object.keys(translations).length > 0 ? { ...body, translations } : body
}

/** Errors by input key. The contract names nested fields by their path. */
const errorsByKey = (fields: readonly Field[], errors: Record<string, string>): Record<string, string> => {
  const keys = new Map(fields.map(field => [keyOf(field).replaceAll('/', '.'), keyOf(field)]))
  return Object.fromEntries(Object.entries(errors).map(([path, text]) => [keys.get(path) ?? path, text]))
}

export type FormTask = {
  /** Identifies the form while it is open. */
  id: string
  title: string
  schema: FormSchema
  fields: readonly Field[]
  /** The call, and the row it changes; no row if it adds one. */
  route: Endpoint
  row: ({ id: number } & Record<string, unknown>) | undefined
  submit: string
  danger?: boolean | undefined
  plan?: ComponentType<PlanProps> | undefined
  /** The question before these values are sent. */
  ask?: ((sent: Record<string, unknown>) => Asking) | undefined
}

type Props = {
  /** The form that the address opens; null: none. */
  task: FormTask | null
  labelOf: (name: string) => string
  onClose: () => void
  onSaved: (reply: unknown, saved: Saved) => void
}
export type Former = Record<string, unknown>
export type Saved = {
  /** What the form would have sent before the edit; undefined for a new row or an unchanged one. */
  former?: Former | undefined
  sent?: Former
  /** The form was still open when the answer came. */
  open: boolean
  /** Reverts the edit, if a dialog of its own knows how. */
  undo?: Undo | undefined
}

/** A form beside the list. It asks before it discards changes. */
export function FormDrawer({ task, labelOf, onClose, onSaved }: Props) {
  const t = useT()
  const [hasSecret, setHasSecret] = useState(false)
  const form = useOpenForm(task, { onClose, keepsDraft: !hasSecret })
  const { content, opened, asking, mark, isUnsaved, leave, isOpen, saved } = form
  return (
    <Drawer
      opened={opened}
      onClose={leave}
      closeOnEscape={!asking}
      returnFocus={false}
      title={content?.title}
      position="right"
      size="md"
      // Above the dashboard's full view, below questions.
      zIndex={250}
      classNames={{ title: `shrinks breaks size-title ${classes.drawerTitle}` }}
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ 'aria-label': t('list.close') }}
    >
      {content && (
        <TaskForm
          key={content.id}
          task={content}
          labelOf={labelOf}
          onDirty={mark}
          onSecret={setHasSecret}
          isUnsaved={isUnsaved}
          onCancel={leave}
          isOpen={isOpen}
          onSaved={(reply, edit) => {
            const open = isOpen()
            saved()
            onSaved(reply, { ...edit, open })
          }}
        />
      )}
    </Drawer>
  )
}

const usePlain = () => (value: string) => value

type TaskFormProps = Pick<Props, 'labelOf'> & {
  task: FormTask
  isOpen: () => boolean
  onSaved: (reply: unknown, edit: Omit<Saved, 'open' | 'undo'>) => void
  onDirty: (dirty: boolean) => void
  /** Whether a secret is entered. Drafts do not keep secrets. */
  onSecret: (entered: boolean) => void
  isUnsaved: () => boolean
  onCancel: () => void
}

function TaskForm({ task, labelOf, isOpen, onDirty, onSecret, isUnsaved, onCancel, onSaved }: TaskFormProps) {
  const t = useT()
  const { schema, row, route, plan: Plan } = task
  const { pathname } = useLocation()
  const fields = task.fields.filter(({ only }) => !only || (only === 'edit') === Boolean(row))
  const valuesOf = (row: Row | undefined) =>
    Object.fromEntries(fields.map(field => [keyOf(field), shownOf(field, row)]))
  const [failure, setFailure] = useState('')
  const [taken, setTaken] = useState<Taken[]>([])
  const [clashes, setClashes] = useState<Clash[]>([])
  const [saving, setSaving] = useState(false)
  const [wrong, setWrong] = useState<{ first: string }>()
  const base = useRef(row)
  const check = rules(schema as never)
  const sentOf = (values: Record<string, string>) => bodyOf(fields, values, base.current ?? {})
  /** The version of a row without one: the body its form would send unchanged. */
  const versionOf = (one: Row | undefined) =>
    (one?.['version'] as string | undefined) ?? JSON.stringify(bodyOf(fields, valuesOf(one), one ?? {}))
  const form = useForm<Record<string, string>>({
    mode: 'controlled',
    initialValues: valuesOf(row),
    validate: values => errorsByKey(fields, check(sentOf(values)))
  })
  const secrets = fields.filter(field => field.secret).map(keyOf)
  useFormDraft(`${pathname}-${task.id}`, form, { version: versionOf(base.current), secrets, isUnsaved })
  const dirty = form.isDirty()
  useEffect(() => onDirty(dirty), [dirty, onDirty])
  const hasSecret = secrets.some(key => form.isDirty(key))
  useEffect(() => onSecret(hasSecret), [hasSecret, onSecret])

  const focusFirst = (errors: object) => {
    const first = fields.map(keyOf).find(key => key in errors)
    if (first) setWrong({ first })
  }
  // After rendering, because a folded part of the form may first have to open.
  useEffect(() => {
    if (wrong) form.getInputNode(wrong.first)?.focus()
    // oxlint-disable-next-line react/exhaustive-deps -- once per attempt, not when the form object changes
  }, [wrong])
  /** Merges what another user saved with what is entered here. */
  const mergeSaved = (current: Row) => {
    const theirs = valuesOf(current)
    const merged = merge(valuesOf(base.current), form.getValues(), theirs)
    base.current = current as typeof row
    form.setInitialValues(theirs)
    form.setValues(merged.values)
    setTaken(merged.taken)
    setClashes(merged.clashes)
  }
  const save = async (values: Record<string, string>) => {
    setSaving(true)
    setFailure('')
    setTaken([])
    setClashes([])
    try {
      const version = base.current?.['version']
      const body = { ...sentOf(values), ...(version === undefined ? {} : { version }) }
      const question = await task.ask?.(body)
      const input = { body: { ...body, ...question?.adds }, ...(row ? { params: { id: row.id } } : {}) }
      // If the form was closed in the meantime, do not save.
      if (!isOpen() || (question && !(await confirm(question)))) return
      const former = base.current && sentOf(valuesOf(base.current))
      const same = former && JSON.stringify(former) === JSON.stringify(sentOf(values))
      const reply = await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, input)
      onSaved(reply, { former: same ? undefined : former, sent: body })
    } catch (error) {
      if (!isOpen()) return notify('bad', failureText(error))
      const found = errorsByKey(fields, fieldTexts(error))
      const own = Object.fromEntries(Object.entries(found).filter(([key]) => fields.some(one => keyOf(one) === key)))
      if (error instanceof ApiError && error.refusal.current) mergeSaved(error.refusal.current)
      form.setErrors(own)
      // Errors of unknown fields show above the form.
      if (Object.keys(own).length === 0) setFailure(failureText(error))
      else focusFirst(own)
    } finally {
      setSaving(false)
    }
  }
  const second = fields.filter(({ translates }) => translates)
  const wordOf = (field: Field | undefined) =>
    field?.translates ? t('form.inChinese', { field: labelOf(field.translates.like) }) : labelOf(field?.name ?? '')
  // oxlint-disable-next-line react/rules-of-hooks -- a form's fields do not change while it is open
  const told = new Map(fields.map(field => [keyOf(field), (field.useDescription ?? usePlain)()]))
  const fieldAt = (path: Path) => fields.find(field => keyOf(field) === path.join())
  const input = (field: Field) => {
    const { Input, optional, placeholder, help, unit } = field
    const key = keyOf(field)
    return (
      <Input
        key={form.key(key)}
        label={wordOf(field)}
        withAsterisk={!optional}
        {...(placeholder ? { placeholder: placeholder(t, row ?? {}) } : {})}
        {...(help ? { description: help(t) } : {})}
        {...unit?.(form.values)}
        {...(field === fields[0] ? { 'data-autofocus': true } : {})}
        {...form.getInputProps(key)}
      />
    )
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
      <FormAlert
        failure={failure}
        taken={taken}
        clashes={clashes}
        labelOf={path => wordOf(fieldAt(path))}
        told={(path, value) => told.get(path.join())?.(value as string) ?? ''}
        onTake={clash => {
          form.setFieldValue(clash.path.join(), clash.theirs as string)
          setClashes(clashes.filter(one => one !== clash))
        }}
      />
      {fields.filter(({ translates }) => !translates).map(input)}
      {second.length > 0 && (
        <SecondLanguage
          filled={second.some(field => shownOf(field, row) !== '')}
          wrong={second.some(field => keyOf(field) in form.errors)}
        >
          {second.map(input)}
        </SecondLanguage>
      )}
      {Plan && <Plan values={form.values} row={row} set={(name, value) => form.setFieldValue(name, value)} />}
      <div className="row to-end" style={{ gap: '0.6rem', marginTop: '1rem' }}>
        <Button variant="default" onClick={onCancel}>
          {t('form.cancel')}
        </Button>
        <WorkButton type="submit" working={saving} {...(task.danger ? { color: 'red.9' } : {})}>
          {task.submit}
        </WorkButton>
      </div>
    </form>
  )
}

type SecondLanguageProps = {
  /** It contains text. */
  filled: boolean
  /** It contains an error, so it opens and stays open. */
  wrong: boolean
  children: ReactNode
}

/** The form's Chinese texts. The section starts open if there are any. */
export function SecondLanguage({ filled, wrong, children }: SecondLanguageProps) {
  const t = useT()
  const id = useId()
  const [open, setOpen] = useState(filled)
  // It stays open when typing clears the error.
  if (wrong && !open) setOpen(true)
  return (
    <section className={classes.second} aria-label={t('form.chinese')}>
      <UnstyledButton
        className={`row unwrapped strong ${classes.secondTitle}`}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {t('form.chinese')} <IconChevronDown size={17} aria-hidden data-open={open || undefined} />
      </UnstyledButton>
      {open && (
        <div id={id} className="stack">
          <p className="dim">{t('form.chineseHint')}</p>
          {children}
        </div>
      )}
    </section>
  )
}
