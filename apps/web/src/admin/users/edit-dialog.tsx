import '../../kit/styles/forms.ts'
import '../../kit/styles/overlays.ts'
import type { User } from '@netlet/contract'
import { Modal } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { useOpenForm, type DialogProps } from '../kit/index.ts'
import { UserForm } from './user-form.tsx'

/** The Edit dialog. A click beside it does not close it, so that nothing that was entered is lost by one. */
export function EditDialog({ task, onClose, onSaved }: DialogProps<User>) {
  const t = useT()
  const { content, opened, asking, mark, leave, saved } = useOpenForm(task, { onClose })
  return (
    <Modal
      opened={opened}
      onClose={leave}
      closeOnClickOutside={false}
      closeOnEscape={!asking}
      returnFocus={false}
      title={content && `${t('list.edit')}: ${content.row.username}`}
      size="lg"
      // Above the dashboard's full view, below questions.
      zIndex={250}
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ 'aria-label': t('list.close') }}
    >
      {content && (
        <UserForm
          key={content.id}
          user={content.row}
          onDirty={mark}
          onCancel={leave}
          onSaved={() => {
            onSaved()
            saved()
          }}
        />
      )}
    </Modal>
  )
}
