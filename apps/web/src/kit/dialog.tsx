import './styles/overlays.ts'
import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useT } from '../i18n/index.ts'
import { useFocusReturn } from './focus-return.ts'
import { useQuestionOpen } from './use-question-open.ts'

/** Milliseconds in which a second click belongs to the one that opened the dialog. */
const DOUBLE_CLICK = 500

type Props = Omit<ModalProps, 'opened' | 'returnFocus'> & {
  /** Left out where the dialog is only drawn while it is open. */
  opened?: boolean
  /** The id of the row that it is about, which takes the focus where what opened it is gone. */
  row?: number | null
}

/**
 * The library's dialog as all screens use it: its close button has a name, and the focus goes back to what opened it, however
 * it closes. The library itself gives it back only to a dialog that is drawn with `opened` false afterwards. Escape does not
 * close it below a question: that is what is answered. The second click of a double click on what opened it does nothing,
 * wherever in or beside it that comes down.
 */
export function Dialog({ opened = true, row = null, closeOnClickOutside = true, children, ...props }: Props) {
  const t = useT()
  const asking = useQuestionOpen()
  useFocusReturn(opened, row)
  const openedAt = useRef(0)
  useEffect(() => {
    if (opened) openedAt.current = performance.now()
  }, [opened])
  const isSecond = () => performance.now() - openedAt.current <= DOUBLE_CLICK
  const beside = () => {
    if (closeOnClickOutside && !isSecond()) props.onClose()
  }
  return (
    <Modal
      closeButtonProps={{ 'aria-label': t('close') }}
      // The library's is a landmark, of which a page has one.
      attributes={{ header: { role: 'presentation' } }}
      // Above the dashboard's full view, below questions.
      zIndex={250}
      closeOnEscape={!asking}
      {...props}
      opened={opened}
      closeOnClickOutside={false}
      overlayProps={{
        onClick: beside,
        // A click beside it takes the focus from nothing in it.
        onMouseDown: event => event.preventDefault()
      }}
      onClickCapture={event => {
        if (event.detail < 2 || !isSecond()) return
        event.preventDefault()
        event.stopPropagation()
      }}
      returnFocus={false}
    >
      {children}
    </Modal>
  )
}
