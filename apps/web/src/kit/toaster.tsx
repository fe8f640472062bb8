import '../app/styles/toasts.ts'
import { Notifications } from '@mantine/notifications'

export default function Toaster() {
  return <Notifications position="top-center" style={{ top: '4.5rem' }} limit={4} zIndex={500} />
}
