import '../app/styles/overlays.ts'
import { Button, Modal } from '@mantine/core'
import { useRef } from 'react'
import { useT } from '../i18n/index.ts'
import type { Question } from './confirm.ts'

export default function ConfirmDialog({ asked }: { asked: (Question & { answer: (yes: boolean) => void }) | null }) {
  const t = useT()
  // Keeps its words while it fades out.
  const last = useRef(asked)
  if (asked) last.current = asked
  const question = last.current
  return (
    <Modal
      opened={Boolean(asked)}
      onClose={() => asked?.answer(false)}
      title={question?.title}
      zIndex={400}
      size="sm"
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <p className="dim" style={{ whiteSpace: 'pre-line' }}>
        {question?.body}
      </p>
      <div className="row" style={{ justifyContent: 'flex-end', marginTop: '1.5rem' }}>
        <Button variant="default" onClick={() => asked?.answer(false)} data-autofocus>
          {question?.no ?? t('no')}
        </Button>
        <Button {...(question?.danger ? { color: 'red.9' } : {})} onClick={() => asked?.answer(true)}>
          {question?.yes ?? t('yes')}
        </Button>
      </div>
    </Modal>
  )
}
