// Registers the descriptors of messages on first use. protobuf registers the descriptors of each file when
// the program starts, and again when a descriptor of the file is first used (for plug-ins, where the order of
// initializers is unknown): AssignDescriptors() in google/protobuf/generated_message_reflection.cc, with the
// files that the file imports. The second registration is enough here, because nothing looks up a type by
// name before descriptor() of a message was called. The link options of the binary (--wrap in CMakeLists.txt)
// redirect the first registration to the function below.
namespace google::protobuf::internal {
struct DescriptorTable;
}

extern "C" void __wrap__ZN6google8protobuf8internal20AddDescriptorsRunnerC1EPKNS1_15DescriptorTableE(
    void* /*runner*/, const google::protobuf::internal::DescriptorTable* /*table*/) {}
