// First: it has to be in force before any schema is built.
import './no-eval.ts'

/**
 * The contract's rules that forms check by. They bring the validation library: only pages with a form import them. What
 * else the browser takes of the contract comes from its parts without schemas, or these would be built too early.
 */
export {
  AclGroupForm,
  AclRuleForm,
  AgentCallForm,
  AdminPasswordBody,
  ApiKeyForm,
  ApplyPaymentForm,
  ChangePasswordBody,
  CollectionForm,
  CidrForm,
  ConfirmBody,
  CouponForm,
  CreditForm,
  CreateProxyUserForm,
  DeleteProxyUserForm,
  EmailChangeBody,
  EmailChangeCodeBody,
  ExtendForm,
  FaqForm,
  ForgotBody,
  GiftCardForm,
  LevelCodeForm,
  LoginBody,
  MoveForm,
  OutageForm,
  MAX_COINS,
  MoveOrderForm,
  PaymentNoteForm,
  ProductForm,
  ProductUpdate,
  RefundForm,
  ResetProxiesForm,
  ServerForm,
  ServerGroupForm,
  SignUpBody,
  TagForm,
  TicketForm,
  VariantForm,
  UserForm,
  SECRET_KEPT,
  SettingsForm,
  TicketAnswerForm
} from '@netlet/contract'
