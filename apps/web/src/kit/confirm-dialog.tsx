import './styles/overlays.ts'
import { Button, Checkbox, Group, Textarea, TextInput } from '@mantine/core'
import { ModalsProvider, useModals } from '@mantine/modals'
import { useEffect, useState } from 'react'
import { QUESTION } from '../api/use-mutation.ts'
import { useT } from '../i18n/index.ts'
import classes from './confirm-dialog.module.css'
import type { questions } from './confirm.ts'
import { useFocusReturn } from './focus-return.ts'
import { numberText } from './money.ts'

/** The server's limit, in characters. */
const MOST_MESSAGE = 500

type Props = { asked: ReturnType<typeof questions.current> }

export default function ConfirmDialog({ asked }: Props) {
  return (
    <ModalsProvider>
      <Opener asked={asked} />
    </ModalsProvider>
  )
}

/** Opens the library's dialog for the current question, and closes it with the question. */
function Opener({ asked }: Props) {
  const t = useT()
  const modals = useModals()
  useFocusReturn(asked !== null)
  useEffect(() => {
    if (!asked) return
    const body = <p className="dim lines">{asked.body}</p>
    const shared = {
      title: asked.title,
      closeButtonProps: { 'aria-label': t('close') },
      size: 'sm',
      returnFocus: false,
      [QUESTION]: true,
      zIndex: 400,
      // Closing counts as NO. After YES the question already has its answer.
      onClose: () => asked.answer(false)
    }
    const id = asked.blocked
      ? modals.openModal({
          ...shared,
          withCloseButton: false,
          children: (
            <>
              {body}
              <Group className={classes.answers ?? ''} justify="flex-end">
                <Button variant="default" data-autofocus onClick={() => asked.answer(false)}>
                  {t('close')}
                </Button>
              </Group>
            </>
          )
        })
      : asked.typed === undefined && !asked.note
        ? modals.openConfirmModal({
            ...shared,
            children: body,
            labels: { confirm: asked.yes ?? t('yes'), cancel: asked.no ?? t('no') },
            confirmProps: asked.danger ? { color: 'red.9' } : {},
            cancelProps: { 'data-autofocus': true },
            groupProps: { gap: '0.75rem', className: classes.answers ?? '' },
            onConfirm: () => asked.answer(true)
          })
        : modals.openModal({
            ...shared,
            children: (
              <>
                {body}
                <AnswerForm asked={asked} />
              </>
            )
          })
    return () => modals.closeModal(id)
    // oxlint-disable-next-line react/exhaustive-deps -- once per question
  }, [asked])
  return null
}

/** Enables YES when the number has been typed, with or without its commas. Also asks what to tell the customer. */
function AnswerForm({ asked }: { asked: NonNullable<Props['asked']> }) {
  const t = useT()
  const { typed: number, note, answer } = asked
  const [typed, setTyped] = useState('')
  const [message, setMessage] = useState('')
  const [isEmailed, setEmailed] = useState(true)
  const right = number === undefined || typed.replaceAll(/[\s,]/g, '') === String(number)
  return (
    <form
      className={classes.answers}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        if (right) answer(true, note && { message, email_customer: isEmailed })
      }}
    >
      {note && (
        <>
          <Textarea
            label={note.message}
            description={note.hint}
            value={message}
            onChange={event => setMessage(event.currentTarget.value)}
            rows={3}
            maxLength={MOST_MESSAGE}
            autoComplete="off"
          />
          <Checkbox
            my="sm"
            label={note.email}
            checked={isEmailed}
            onChange={event => setEmailed(event.currentTarget.checked)}
          />
        </>
      )}
      {number !== undefined && (
        <TextInput
          label={t('confirm.type', { number: numberText(number) })}
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
          inputMode="numeric"
          autoComplete="off"
          data-autofocus
        />
      )}
      <Group mt="md" gap="0.75rem" justify="flex-end">
        <Button variant="default" data-autofocus={number === undefined || undefined} onClick={() => answer(false)}>
          {asked.no ?? t('no')}
        </Button>
        <Button type="submit" disabled={!right} {...(asked.danger ? { color: 'red.9' } : {})}>
          {asked.yes ?? t('yes')}
        </Button>
      </Group>
    </form>
  )
}
